import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { type ScriptedUpstream, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { createClient } from './support.ts';

let stored: ResponseDatabase;
let application: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  stored = await openResponses('SQLite');
  application = await startScriptedUpstream(silence);
  const configuration = { models: {}, applications: { app: { endpoint: `${application.url}/app` } } };
  service = await startService(configuration, { responses: stored.stores(), maxBackgroundRunMs: 500 });
});

afterAll(async () => {
  await service.close();
  await application.close();
  await stored[Symbol.asyncDispose]();
});

describe('background run that reaches its maximum duration', () => {
  it('fails, and the per-request key of its application expires', async () => {
    const client = createClient(service);
    const { id } = await client.responses.create({ model: 'app', input: 'work for ever', background: true, stream: false });
    const { headers } = await application.request(0);
    const getKeyStatus = async () => {
      const request = { method: 'GET', path: '/v1/user/info', headers: { 'api-key': String(headers['api-key']) } };
      return (await service.sendRequest(request)).status;
    };
    expect(await getKeyStatus()).toBe(200);
    const ended = await vi.waitFor(async () => {
      const response = await client.responses.retrieve(id);
      expect(['queued', 'in_progress']).not.toContain(response.status);
      return response;
    }, 5_000);
    expect([ended.status, ended.error?.message]).toEqual([
      'failed',
      'The background response was still running after its maximum of 0.5 s. Split the task into shorter ones.',
    ]);
    expect(await getKeyStatus()).toBe(401);
  });
});
