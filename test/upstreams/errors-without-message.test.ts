import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { jsonReply, piecesReply, type ScriptedUpstream, startScriptedUpstream, toEvent } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { createUpstream } from '#test/vendor-replies.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const { endpoint, url } = upstream;
  const once = { maxRetryAttempts: 1 };
  service = await startService({
    models: {
      openai: { upstreams: [{ endpoint }], ...once },
      anthropic: { upstreams: [{ protocol: 'anthropic', endpoint }], ...once },
      gemini: { upstreams: [createUpstream('gemini', url)], ...once },
      mistral: { upstreams: [createUpstream('mistral', url)], ...once },
    },
    applications: { app: { endpoint: `${url}/app` } },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

describe.each(['openai', 'anthropic', 'gemini', 'mistral', 'app'])('error of %s without a message', (deployment) => {
  it.each([
    { error: { message: '' } },
    { error: '' },
    { error: { message: ' \n', code: '', param: '' } },
    { message: '' },
    '',
    [],
  ])('is described by its status: %j', async (body) => {
    upstream.script(jsonReply(body, 413));
    const { status, error } = await service.chat(deployment, { messages: hello });
    expect([status, error]).toMatchObject([
      413,
      { message: 'The upstream answered 413.', param: null, code: 'payload_too_large' },
    ]);
  });

  it('is described by its status if the upstream itself failed', async () => {
    upstream.script(jsonReply({ error: { message: '' } }, 500));
    const { status, error } = await service.chat(deployment, { messages: hello });
    expect([status, error.message]).toEqual([500, `The upstream of ${deployment} failed: The upstream answered 500.`]);
  });
});

describe('error event without a message', () => {
  it.each([
    ['openai', toEvent({ error: { message: '', code: '' } })],
    ['openai', toEvent({ error: '' })],
    ['anthropic', `event: error\n${toEvent({ type: 'error', error: { type: 'api_error', message: '' } })}`],
  ])('of %s has a default message: %j', async (deployment, event) => {
    upstream.script(piecesReply(event));
    const { error } = await service.chat(deployment, { messages: hello, stream: true });
    expect(error.message).toBe(`The upstream of ${deployment} failed: The upstream sent an error.`);
  });
});
