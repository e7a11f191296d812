import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, chatPath, startService, type TestService } from '#test/start-service.ts';

const maxBodyBytes = 2_000;

/** Everything that can be wrong with a request; `right` has none of it. */
interface Wrongs {
  size?: true;
  credentials?: true;
  mediaType?: true;
  deployment?: true;
  access?: true;
  body?: true;
}

const rank = ['size', 'credentials', 'mediaType', 'deployment', 'access', 'body'] as const;
const told: Record<(typeof rank)[number], readonly [status: number, code: string]> = {
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

function ask(wrong: Wrongs): Promise<TestResponse> {
  const deployment = wrong.deployment ? 'missing' : wrong.access ? 'closed' : 'open';
  const body = JSON.stringify({ messages: wrong.body ? [] : hello, user: wrong.size ? 'x'.repeat(maxBodyBytes) : 'x' });
  return service.sendRequest({
    path: chatPath(deployment),
    headers: {
      'api-key': wrong.credentials ? 'unknown' : callerKey,
      'content-type': wrong.mediaType ? 'text/plain' : 'application/json',
    },
    body,
  });
}

describe('the order of checks', () => {
  const pairs = rank.flatMap((first, at) => rank.slice(at + 1).map((second) => [first, second] as const));

  it.each(pairs.filter((pair) => pair.join() !== 'deployment,access'))('tells %s before %s', async (first, second) => {
    const answer = await ask({ [first]: true, [second]: true });
    expect([answer.status, answer.error.code]).toEqual(told[first]);
  });

  it.each(rank)('tells %s alone', async (wrong) => {
    const answer = await ask({ [wrong]: true });
    expect([answer.status, answer.error.code]).toEqual(told[wrong]);
  });

  it('calls the upstream only if every check passes', async () => {
    const before = upstream.requests.length;
    for (const wrong of rank) await ask({ [wrong]: true });
    expect(upstream.requests.length).toBe(before);
    expect((await ask({})).status).toBe(200);
    expect(upstream.requests.length).toBe(before + 1);
  });

  it('tells credentials before an id that could be none', async () => {
    const answer = await service.sendRequest({
      path: chatPath('a/../b'),
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(401);
  });

  it('tells a missing deployment before an impossible api_version, and that before the body', async () => {
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

  it('names the deployment by the body of the stock path, so a faulty body comes before a missing deployment there', async () => {
    const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
    const path = '/v1/chat/completions';
    expect((await service.sendRequest({ path, headers, body: '{' })).error.code).toBe('invalid_json');
    expect((await service.sendRequest({ path, headers, body: { messages: [] } })).error.param).toBe('model');
    expect((await service.sendRequest({ path, headers, body: { model: 'missing', messages: [] } })).status).toBe(404);
    expect((await service.sendRequest({ path, headers, body: { model: 'closed', messages: [] } })).status).toBe(403);
    expect((await service.sendRequest({ path, headers, body: { model: 'open', messages: [] } })).status).toBe(400);
  });

  it('refuses a body without an announced length as soon as it grows over the limit', async () => {
    const answer = await service.sendRequest({
      path: chatPath('open'),
      headers: { 'api-key': callerKey, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      body: JSON.stringify({ messages: hello, user: 'x'.repeat(maxBodyBytes) }),
    });
    expect([answer.status, answer.error.code]).toEqual([413, 'payload_too_large']);
    expect(answer.error.message).toContain(String(maxBodyBytes));
  });
});
