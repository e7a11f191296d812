import { afterAll, beforeAll, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { type Answering, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { formType, sound, toForm } from './support.ts';

/** What an application asks for with its key, while it answers. */
type Inner = (key: string) => Promise<TestResponse>;

let inner: Inner;
let got: TestResponse | undefined;
let lastKey = '';
let host: ScriptedUpstream;
let service: TestService;

const requests: Readonly<Record<string, Inner>> = {
  'a list to put in order': (key) => send(key, '/v1/rerank', { model: 'guarded', query: 'a', documents: ['b'] }),
  'a text to go on with, at its path': (key) =>
    send(key, '/openai/deployments/guarded/completions?api-version=2024-10-21', { prompt: 'a' }),
  'a form with the model behind the file': (key) =>
    sendRequest(service.url, {
      path: '/v1/audio/transcriptions',
      headers: { 'api-key': key, 'content-type': formType },
      body: toForm(sound, { name: 'model', value: 'guarded' }),
    }),
};

const send = (key: string, path: string, body: object): Promise<TestResponse> =>
  sendRequest(service.url, { path, headers: withKey(key), body });

async function answerAsTold({ received, response }: Answering): Promise<void> {
  response.setHeader('content-type', 'application/json');
  if (received.path !== '/app') {
    response.end(JSON.stringify({ results: [], choices: [], text: 'heard' }));
    return;
  }
  lastKey = String(received.headers['api-key']);
  got = await inner(lastKey);
  response.end(JSON.stringify(plainCompletion('done')));
}

beforeAll(async () => {
  host = await startScriptedUpstream(answerAsTold);
  const upstreams = [{ endpoint: host.endpoint, api: ['rerank', 'completions', 'audio/transcriptions'] }];
  service = await startService({
    models: {
      guarded: { upstreams, features: { consentRequired: true } },
      secluded: { upstreams, features: { accessibleByPerRequestKey: false } },
      staff: { upstreams, userRoles: ['staff'] },
    },
    applications: { app: { endpoint: `${host.url}/app`, dependencies: ['guarded', 'secluded', 'staff'] } },
    keys: { [callerKey]: { project: 'test' }, other: { project: 'other' } },
  });
});

afterAll(async () => {
  await service.close();
  await host.close();
});

/** What the application was answered, called on behalf of the user. */
async function through(asking: Inner, key = callerKey): Promise<TestResponse> {
  inner = asking;
  const { status, text } = await service.chat('app', { messages: [{ role: 'user', content: 'hi' }] }, { 'api-key': key });
  expect(status, text).toBe(200);
  if (got === undefined) throw new Error('the application was not called');
  return got;
}

const asked = (): number => host.requests.filter(({ path }) => path !== '/app').length;

it.each(Object.entries(requests))('an application needs consent for %s', async (_what, request) => {
  const before = asked();
  const refused = await through(request);
  expect([refused.status, refused.error.code]).toEqual([403, 'consent_required']);
  expect(refused.error.message).toContain('GET /v1/consent/app');
  expect(asked()).toBe(before);
});

it.each(Object.entries(requests))('with the consent of its user, and of no other, it is answered: %s', async (_what, request) => {
  const path = '/v1/consent/app';
  const { json } = await service.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey } });
  const { consent } = json as { consent: object };
  expect(consent).toMatchObject({ guarded: { consentRequired: true } });
  expect((await service.sendRequest({ path, headers: withKey(), body: { consent } })).status).toBe(200);
  expect((await through(request)).status).toBe(200);
  expect((await through(request, 'other')).error.code).toBe('consent_required');
  expect((await request(lastKey)).status).toBe(401);
  await service.sendRequest({ method: 'DELETE', path, headers: { 'api-key': callerKey } });
  expect((await through(request)).error.code).toBe('consent_required');
});

it.each(['secluded', 'staff'])('an application may not use %s for its user', async (model) => {
  const refused = await through((key) => send(key, '/v1/rerank', { model, query: 'a', documents: ['b'] }));
  expect([refused.status, refused.error.code]).toEqual([403, 'access_denied']);
});

it('a user asks a deployment that requires consent as one asks it to chat', async () => {
  expect((await requests['a list to put in order']?.(callerKey))?.status).toBe(200);
});
