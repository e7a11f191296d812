import { afterAll } from 'vitest';
import { type Reply, type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.ts';
import { startService, type TestService } from './start-service.ts';

/** Starts an upstream with these replies and a service with only the model `m`, for all tests of a file. */
export async function startModel(...replies: readonly Reply[]): Promise<{ upstream: ScriptedUpstream; service: TestService }> {
  const upstream = await startScriptedUpstream(...replies);
  const service = await startService({ models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } });
  afterAll(async () => {
    await service.close();
    await upstream.close();
  });
  return { upstream, service };
}
