import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, getChatPath, startService, type TestService } from '#test/start-service.ts';

const maxBodyBytes = 2_000;

/** Errors that a request can have. A valid request sets no field. */
interface RequestErrors {
  size?: true;
  credentials?: true;
  mediaType?: true;
  deployment?: true;
  access?: true;
  body?: true;
}

const checks = ['size', 'credentials', 'mediaType', 'deployment', 'access', 'body'] as const;
const outcomes: Record<(typeof checks)[number], readonly [status: number, code: string]> = {
  size: [413, 'payload_too_large'],
  credentials: [401, 'invalid_api_key'],
  mediaType: [415, 'unsupported_media_type'],
  deployment: [404, 'DeploymentNotFound'],
  access: [403, 'access_denied'],
  body: [400, 'invalid_request'],
};

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  const upstreams = [{ endpoint: upstream.endpoint }];
  service = await startService({
    models: { open: { upstreams }, closed: { upstreams, userRoles: ['staff'] } },
    security: { maxBodyBytes },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

function sendInvalid(errors: RequestErrors): Promise<TestResponse> {
  const deployment = errors.deployment ? 'missing' : errors.access ? 'closed' : 'open';
  const body = JSON.stringify({ messages: errors.body ? [] : hello, user: errors.size ? 'x'.repeat(maxBodyBytes) : 'x' });
  return service.sendRequest({
    path: getChatPath(deployment),
    headers: {
      'api-key': errors.credentials ? 'unknown' : callerKey,
      'content-type': errors.mediaType ? 'text/plain' : 'application/json',
    },
    body,
  });
}

describe('order of checks', () => {
  const pairs = checks.flatMap((first, index) => checks.slice(index + 1).map((second) => [first, second] as const));

  it.each(pairs.filter((pair) => pair.join() !== 'deployment,access'))('reports %s before %s', async (first, second) => {
    const answer = await sendInvalid({ [first]: true, [second]: true });
    expect([answer.status, answer.error.code]).toEqual(outcomes[first]);
  });

  it.each(checks)('reports %s alone', async (errors) => {
    const answer = await sendInvalid({ [errors]: true });
    expect([answer.status, answer.error.code]).toEqual(outcomes[errors]);
  });

  it('calls the upstream only if every check passes', async () => {
    const before = upstream.requests.length;
    for (const errors of checks) await sendInvalid({ [errors]: true });
    expect(upstream.requests.length).toBe(before);
    expect((await sendInvalid({})).status).toBe(200);
    expect(upstream.requests.length).toBe(before + 1);
  });

  it('reports missing credentials before an invalid deployment ID', async () => {
    const answer = await service.sendRequest({
      path: getChatPath('a/../b'),
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(401);
  });

  it('reports a missing deployment before an invalid api_version, and that before the body', async () => {
    const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
    const missing = await service.sendRequest({
      path: '/compat/deployments/missing/chat/completions/nonsense',
      headers,
      body: '{',
    });
    expect(missing.status).toBe(404);
    const version = await service.sendRequest({ path: '/compat/deployments/open/chat/completions/nonsense', headers, body: '{' });
    expect([version.status, version.error.code]).toEqual([400, 'invalid_api_version']);
  });

  it('reports an invalid body before a missing deployment if the body names the deployment', async () => {
    const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
    const path = '/v1/chat/completions';
    expect((await service.sendRequest({ path, headers, body: '{' })).error.code).toBe('invalid_json');
    expect((await service.sendRequest({ path, headers, body: { messages: [] } })).error.param).toBe('model');
    expect((await service.sendRequest({ path, headers, body: { model: 'missing', messages: [] } })).status).toBe(404);
    expect((await service.sendRequest({ path, headers, body: { model: 'closed', messages: [] } })).status).toBe(403);
    expect((await service.sendRequest({ path, headers, body: { model: 'open', messages: [] } })).status).toBe(400);
  });

  it('rejects a body without a content length when it exceeds the limit', async () => {
    const answer = await service.sendRequest({
      path: getChatPath('open'),
      headers: { 'api-key': callerKey, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      body: JSON.stringify({ messages: hello, user: 'x'.repeat(maxBodyBytes) }),
    });
    expect([answer.status, answer.error.code]).toEqual([413, 'payload_too_large']);
    expect(answer.error.message).toContain(String(maxBodyBytes));
  });
});
