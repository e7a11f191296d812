import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { HttpClient } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { fixture } from '#test/anthropic-streams.ts';
import { hello } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import {
  jsonReply,
  piecesReply,
  type Reply,
  type ScriptedUpstream,
  silence,
  startScriptedUpstream,
} from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { account } from './service-account.ts';

allowNonconformingUpstreams();

const token = 'ya29.the-token';
const plain = new LeanClient();
const hosts: string[] = [];
let vertex: ScriptedUpstream;
let issuer: ScriptedUpstream;
let service: TestService;

/** Redirects requests for Google to the servers of this test. */
const http: HttpClient = {
  send(request, listener) {
    const { hostname, pathname } = request.url;
    if (hostname.endsWith('.googleapis.com') && hostname !== 'oauth2.googleapis.com') hosts.push(hostname);
    const server = hostname === 'oauth2.googleapis.com' ? issuer : vertex;
    return plain.send({ ...request, url: new URL(pathname, server.url) }, listener);
  },
  close: () => plain.close(),
};

beforeAll(async () => {
  [vertex, issuer] = [await startScriptedUpstream(), await startScriptedUpstream()];
  const claude = { protocol: 'vertex', key: JSON.stringify(account), model: 'claude-sonnet-4-5@20250929' };
  const model = (fields: object) => ({ upstreams: [{ ...claude, ...fields }], maxRetryAttempts: 1 });
  service = await startService(
    {
      models: {
        claude: model({ region: 'europe-west1', headers: { 'X-Team': 'blue' } }),
        anew: model({ region: 'europe-west4' }),
        europe: model({ region: 'eu' }),
        global: model({}),
        elsewhere: model({ endpoint: 'http://proxy.example/v1/publishers/anthropic', model: 'sonnet' }),
        express: model({ key: 'a-key-of-express-mode' }),
        keyless: model({ key: undefined }),
      },
    },
    { http },
  );
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  for (const server of [vertex, issuer]) await server.close();
});

function scriptReply(reply: Reply): void {
  issuer.script(jsonReply({ access_token: token, expires_in: 3600, token_type: 'Bearer' }));
  vertex.script(reply);
}

const messages = (body: object, headers: object = {}) =>
  service.sendRequest({
    path: '/msgapi/v1/messages',
    headers: { ...withKey(), ...headers },
    body: { model: 'claude', max_tokens: 100, messages: hello, ...body },
  });

const completeMessage = {
  id: 'm',
  type: 'message',
  content: [{ type: 'text', text: 'Hi.' }],
  usage: { input_tokens: 3, output_tokens: 2 },
};

describe('Claude on Vertex', () => {
  it('relays the Messages API byte by byte, with the version in the body and a token instead of a key', async () => {
    const bytes = fixture('thinking-tools');
    scriptReply(piecesReply(Buffer.from(bytes, 'latin1')));
    const body = { stream: true, context_management: { edits: [] }, thinking: { type: 'enabled', budget_tokens: 1024 } };
    const answer = await messages(body, { 'anthropic-beta': 'b1', 'anthropic-version': '2023-06-01' });
    expect(Buffer.from(answer.text).toString('latin1')).toBe(bytes);
    const sent = vertex.requests.at(-1) ?? expect.unreachable();
    expect(sent.path).toBe(
      '/v1/projects/the-project/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
    );
    expect(sent.body).toEqual({ max_tokens: 100, messages: hello, ...body, anthropic_version: 'vertex-2023-10-16' });
    expect(sent.headers).toMatchObject({ authorization: `Bearer ${token}`, 'anthropic-beta': 'b1', 'x-team': 'blue' });
    for (const name of ['x-api-key', 'anthropic-version']) expect(sent.headers).not.toHaveProperty(name);
  });

  it('answers chat completions', async () => {
    scriptReply(jsonReply(completeMessage));
    const { completion } = await service.chat('claude', { messages: [{ role: 'system', content: 'Be kind.' }, ...hello] });
    expect(completion.choices[0]?.message.content).toBe('Hi.');
    expect(completion.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 });
    const { path, body } = vertex.requests.at(-1) ?? expect.unreachable();
    expect(path).toMatch(/:rawPredict$/);
    expect(body).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 4096,
      system: [{ type: 'text', text: 'Be kind.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    });
  });

  it('returns several choices with one upstream call each', async () => {
    scriptReply(jsonReply(completeMessage));
    const index = vertex.requests.length;
    const { completion } = await service.chat('claude', { messages: hello, n: 2 });
    expect([completion.choices.length, vertex.requests.length - index]).toEqual([2, 2]);
  });

  it('gets one token for all calls', async () => {
    scriptReply(jsonReply(completeMessage));
    await Promise.all([1, 2, 3].map(() => messages({})));
    expect(issuer.requests.filter(({ path }) => path === '/token')).toHaveLength(1);
  });

  it.each([
    ['claude', 'europe-west1-aiplatform.googleapis.com'],
    ['europe', 'aiplatform.eu.rep.googleapis.com'],
    ['global', 'aiplatform.googleapis.com'],
  ])('is called at the host of its region: %s at %s', async (model, host) => {
    scriptReply(jsonReply(completeMessage));
    expect((await messages({ model })).status).toBe(200);
    expect(hosts.at(-1)).toBe(host);
  });

  it('can have another endpoint whose path names the publisher', async () => {
    scriptReply(jsonReply(completeMessage));
    expect((await messages({ model: 'elsewhere' })).text).toBe(JSON.stringify(completeMessage));
    expect(vertex.requests.at(-1)?.path).toBe('/v1/publishers/anthropic/models/sonnet:rawPredict');
  });

  it.each([
    [
      { error: { code: 404, message: 'Publisher Model was not found', status: 'NOT_FOUND' } },
      404,
      404,
      'Publisher Model was not found',
    ],
    [[{ error: { code: 429, message: 'Quota exceeded' } }], 429, 429, 'Quota exceeded'],
    [
      { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: too many' } },
      400,
      400,
      'max_tokens: too many',
    ],
    [{ error: { code: 403, message: 'denied' } }, 403, 500, 'rejected the credentials'],
    [{ error: { code: 400, message: `no such token ${token}` } }, 400, 400, 'no such token ***'],
  ])('passes on the error %j', async (body, status, expectedStatus, message) => {
    scriptReply(jsonReply(body, status));
    const answer = await messages({});
    expect([answer.status, answer.text]).toEqual([expectedStatus, expect.stringContaining(message)]);
    expect(answer.text).not.toContain(token);
  });

  it.each(['express', 'keyless'])('is rejected without a service account: %s', async (model) => {
    const answer = await messages({ model });
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining('must be the JSON of a service account')]);
    expect(answer.text).not.toContain('express-mode');
  });

  it('fails with 500 if Google rejects the token request', async () => {
    issuer.script(jsonReply({ error: 'invalid_grant' }, 400));
    const answer = await messages({ model: 'anew' });
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining('rejected the credentials')]);
  });

  it('stops waiting for the token when the client disconnects', async () => {
    const index = issuer.requests.length;
    issuer.script(silence);
    const caller = service.chatAndDisconnect('anew', { messages: hello });
    await issuer.request(index);
    caller.disconnect();
    await expect.poll(() => service.inFlightCalls.size, { interval: 5 }).toBe(0);
  });
});
