import { afterAll } from 'vitest';
import { type Reply, type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.ts';
import { startService, type TestService } from './start-service.ts';

/** For all tests of a file: an upstream that answers so, and a service with nothing but the model `m` on it. */
export async function startModel(...replies: readonly Reply[]): Promise<{ upstream: ScriptedUpstream; service: TestService }> {
  const upstream = await startScriptedUpstream(...replies);
  const service = await startService({ models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } });
  afterAll(async () => {
    await service.close();
    await upstream.close();
  });
  return { upstream, service };
}
