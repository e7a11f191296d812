import { afterAll, beforeAll, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { formType, sound, toForm } from './support.ts';

/** Sends a request with the per-request key of an application, while the application answers. */
type InnerRequest = (key: string) => Promise<TestResponse>;

let innerRequest: InnerRequest;
let innerResponse: TestResponse | undefined;
let lastKey = '';
let host: ScriptedUpstream;
let service: TestService;

const requests: Readonly<Record<string, InnerRequest>> = {
  'a rerank request': (key) => send(key, '/v1/rerank', { model: 'guarded', query: 'a', documents: ['b'] }),
  'a completion at a deployment path': (key) =>
    send(key, '/openai/deployments/guarded/completions?api-version=2024-10-21', { prompt: 'a' }),
  'a form with the model after the file': (key) =>
    sendRequest(service.url, {
      path: '/v1/audio/transcriptions',
      headers: { 'api-key': key, 'content-type': formType },
      body: toForm(sound, { name: 'model', value: 'guarded' }),
    }),
};

const send = (key: string, path: string, body: object): Promise<TestResponse> =>
  sendRequest(service.url, { path, headers: withKey(key), body });

async function answerRequest({ received, response }: UpstreamExchange): Promise<void> {
  response.setHeader('content-type', 'application/json');
  if (received.path !== '/app') {
    response.end(JSON.stringify({ results: [], choices: [], text: 'heard' }));
    return;
  }
  lastKey = String(received.headers['api-key']);
  innerResponse = await innerRequest(lastKey);
  response.end(JSON.stringify(plainCompletion('done')));
}

beforeAll(async () => {
  host = await startScriptedUpstream(answerRequest);
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

/** Calls the application for the user and returns the answer to the inner request of the application. */
async function callThroughApp(request: InnerRequest, key = callerKey): Promise<TestResponse> {
  innerRequest = request;
  const { status, text } = await service.chat('app', { messages: [{ role: 'user', content: 'hi' }] }, { 'api-key': key });
  expect(status, text).toBe(200);
  if (innerResponse === undefined) throw new Error('the application was not called');
  return innerResponse;
}

const countInnerRequests = (): number => host.requests.filter(({ path }) => path !== '/app').length;

it.each(Object.entries(requests))('%s of an application is rejected without consent', async (_what, request) => {
  const before = countInnerRequests();
  const rejection = await callThroughApp(request);
  expect([rejection.status, rejection.error.code]).toEqual([403, 'consent_required']);
  expect(rejection.error.message).toContain('GET /v1/consent/app');
  expect(countInnerRequests()).toBe(before);
});

it.each(Object.entries(requests))(
  '%s of an application is accepted only if the user of the call gave consent',
  async (_what, request) => {
    const path = '/v1/consent/app';
    const { json } = await service.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey } });
    const { consent } = json as { consent: object };
    expect(consent).toMatchObject({ guarded: { consentRequired: true } });
    expect((await service.sendRequest({ path, headers: withKey(), body: { consent } })).status).toBe(200);
    expect((await callThroughApp(request)).status).toBe(200);
    expect((await callThroughApp(request, 'other')).error.code).toBe('consent_required');
    expect((await request(lastKey)).status).toBe(401);
    await service.sendRequest({ method: 'DELETE', path, headers: { 'api-key': callerKey } });
    expect((await callThroughApp(request)).error.code).toBe('consent_required');
  },
);

it.each(['secluded', 'staff'])('an application cannot call %s for its user', async (model) => {
  const rejection = await callThroughApp((key) => send(key, '/v1/rerank', { model, query: 'a', documents: ['b'] }));
  expect([rejection.status, rejection.error.code]).toEqual([403, 'access_denied']);
});

it('a user can call a deployment that requires consent directly', async () => {
  expect((await requests['a rerank request']?.(callerKey))?.status).toBe(200);
});
