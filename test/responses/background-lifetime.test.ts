import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { type ScriptedUpstream, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { clientOf } from './support.ts';

let stored: ResponseDatabase;
let program: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  stored = await openResponses('SQLite');
  program = await startScriptedUpstream(silence);
  const configuration = { models: {}, applications: { app: { endpoint: `${program.url}/app` } } };
  service = await startService(configuration, { responses: stored.stores(), maxBackgroundRunMs: 500 });
});

afterAll(async () => {
  await service.close();
  await program.close();
  await stored[Symbol.asyncDispose]();
});

describe('a background run that reaches its maximum duration', () => {
  it('fails, and the per-request key of its application ends', async () => {
    const client = clientOf(service);
    const { id } = await client.responses.create({ model: 'app', input: 'work for ever', background: true, stream: false });
    const { headers } = await program.request(0);
    const statusOfKey = async () => {
      const asking = { method: 'GET', path: '/v1/user/info', headers: { 'api-key': String(headers['api-key']) } };
      return (await service.sendRequest(asking)).status;
    };
    expect(await statusOfKey()).toBe(200);
    const ended = await vi.waitFor(async () => {
      const response = await client.responses.retrieve(id);
      expect(['queued', 'in_progress']).not.toContain(response.status);
      return response;
    }, 5_000);
    expect([ended.status, ended.error?.message]).toEqual([
      'failed',
      'The background response was still running after its maximum of 0.5 s. Split the task into shorter ones.',
    ]);
    expect(await statusOfKey()).toBe(401);
  });
});
