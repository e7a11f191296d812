import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, hello, plainCompletion } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { jsonReply, piecesReply, type ScriptedUpstream, startScriptedUpstream, toEvent } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { createUpstream } from '#test/vendor-replies.ts';

allowNonconformingUpstreams();

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
      adapter: { protocol: 'dial', endpoint: `${url}/adapter`, upstreams: [{ key: 'adapter-key' }], ...once },
    },
    applications: { application: { endpoint: `${url}/app` } },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const errorMessage = 'CUDA out of memory';
const named = (value: unknown): string => `event: error\n${toEvent(value)}`;

/** Errors that model servers write into a stream after a successful start. */
const errors: readonly (readonly [string, string])[] = [
  ['the vLLM format', toEvent({ object: 'error', message: errorMessage, type: 'InternalServerError', param: null, code: 500 })],
  ['the vLLM format without a code', toEvent({ object: 'error', message: errorMessage })],
  ['the FastAPI format', toEvent({ detail: errorMessage })],
  ['the FastAPI list', toEvent({ detail: [{ loc: ['body'], msg: errorMessage, type: 'missing' }] })],
  ['the format of the Messages API', toEvent({ type: 'error', error: { type: 'api_error', message: errorMessage } })],
  ['a type and a message', toEvent({ type: 'error', message: errorMessage })],
  ['an event named error with a message', named({ message: errorMessage })],
  ['an event named error with another format', named({ code: 500, msg: errorMessage })],
  ['an event named error with an error', named({ error: { message: errorMessage } })],
  ['an event named error with plain text', `event: error\ndata: ${errorMessage}\n\n`],
  ['an error that is a string', toEvent({ error: errorMessage })],
  ['an error that is an object', toEvent({ error: { message: errorMessage, code: 'oom' } })],
  ['a message alone', toEvent({ message: errorMessage })],
  ['a list of errors', toEvent({ errors: [{ message: errorMessage }] })],
];

const compat = [
  toEvent(delta({ role: 'assistant', content: 'Half' })) + toEvent(delta({ content: ' of' })),
  'data: [DONE]\n\n',
] as const;

/** Stream events before the error, and the successful end after it. */
type Around = readonly [begin: string, end: string];
const around: Readonly<Record<string, Around>> & { openai: Around; anthropic: Around } = {
  ...{ openai: compat, adapter: compat, application: compat },
  anthropic: [
    [
      { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'c', content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' of' } },
    ]
      .map((event) => `event: ${event.type}\n${toEvent(event)}`)
      .join(''),
    `event: message_stop\n${toEvent({ type: 'message_stop' })}`,
  ],
  gemini: [
    toEvent({ candidates: [{ content: { role: 'model', parts: [{ text: 'Half of' }] }, index: 0 }] }),
    toEvent({ candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }] }),
  ],
  mistral: [
    toEvent({ ...delta({ role: 'assistant', content: 'Half of' }), object: 'chat.completion.chunk' }),
    `${toEvent(finish())}data: [DONE]\n\n`,
  ],
};

/** The vendor packages report that an event is invalid JSON, but not its content. */
function isUnreadable(deployment: string, event: string): boolean {
  return ['gemini', 'mistral'].includes(deployment) && !event.includes('{');
}

describe.each(Object.entries(around))('error in the middle of a %s stream', (deployment, [begin, end]) => {
  it.each(errors)('is reported, and the stream has no finish reason: %s', async (_form, event) => {
    upstream.script(piecesReply(begin, event, end));
    const reader = await service.stream(deployment, { messages: hello });
    const { content, error, isDone, chunks } = await reader.readRest();
    expect([content(), isDone]).toEqual(['Half of', true]);
    expect(error?.message).toContain(isUnreadable(deployment, event) ? 'The answer of' : errorMessage);
    expect(chunks.some(({ choices }) => choices.some(({ finish_reason: reason }) => reason))).toBe(false);
  });

  it.each(errors)('replaces the partial answer if the client requests JSON: %s', async (_form, event) => {
    upstream.script(piecesReply(begin + event + end));
    const { status, error } = await service.chat(deployment, { messages: hello });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(error.message).toContain(isUnreadable(deployment, event) ? 'The answer of' : errorMessage);
  });
});

describe('error in the middle of a relayed Messages stream', () => {
  const [begin, end] = around.anthropic;

  it.each(errors)('is reported, and the stream has no message_stop: %s', async (_form, event) => {
    upstream.script(piecesReply(begin, event, end));
    const body = { model: 'anthropic', max_tokens: 9, messages: hello, stream: true };
    const { text } = await service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body });
    expect(text).toContain('Half');
    expect(text).not.toContain('message_stop');
    expect(text.trim().split('\n\n').at(-1)).toMatch(new RegExp(`^event: error\ndata: .*${errorMessage}`));
  });
});

describe.each(['openai', 'application', 'adapter'])('choice of %s that ends with an error', (deployment) => {
  const failed = (reason: string, more: object = {}) => ({
    ...finish(),
    choices: [{ index: 0, delta: {}, finish_reason: reason, ...more }],
  });

  it.each([
    ['the finish reason is error', failed('error'), 'error'],
    ['the finish reason is abort', failed('abort'), 'abort'],
    ['the choice has an error', failed('stop', { error: { code: 502, message: errorMessage } }), errorMessage],
  ])('fails the stream if %s', async (_how, event, expectedMessage) => {
    const [begin, end] = around.openai;
    upstream.script(piecesReply(begin, toEvent(event), end));
    const { content, error, chunks } = await (await service.stream(deployment, { messages: hello })).readRest();
    expect(content()).toBe('Half of');
    expect(error?.message).toContain(expectedMessage);
    expect(chunks.some(({ choices }) => choices.some(({ finish_reason: reason }) => reason))).toBe(false);
  });

  it.each([
    ['the finish reason is error', { finish_reason: 'error' }],
    ['the finish reason is abort', { finish_reason: 'abort' }],
    ['the choice has an error', { finish_reason: 'stop', error: { code: 502, message: errorMessage } }],
  ])('fails a JSON reply if %s', async (_how, fields) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Half of' }, ...fields }];
    for (const stream of [false, true]) {
      upstream.script(jsonReply(plainCompletion('', { choices })));
      const { status, text } = await service.chat(deployment, { messages: hello, stream });
      expect(status).toBeGreaterThanOrEqual(500);
      expect(text).not.toContain('Half');
      service.forgetFailures();
    }
  });
});

describe('message with the stop reason error', () => {
  const [begin, end] = around.anthropic;
  const reason = toEvent({ type: 'message_delta', delta: { stop_reason: 'error' }, usage: { output_tokens: 2 } });

  it('fails the stream, translated or relayed', async () => {
    upstream.script(piecesReply(begin, reason, end));
    const { error } = await (await service.stream('anthropic', { messages: hello })).readRest();
    expect(error?.code).toBe('upstream_failed');
    const body = { model: 'anthropic', max_tokens: 9, messages: hello, stream: true };
    const { text } = await service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body });
    expect(text).toContain('event: error\n');
    expect(text).not.toContain('message_stop');
  });
});

describe.each(['openai', 'anthropic', 'adapter', 'application'])(
  'error in a complete reply of %s with status 200',
  (deployment) => {
    it.each([
      { object: 'error', message: errorMessage, type: 'InternalServerError', param: null, code: 500 },
      { detail: errorMessage },
      { type: 'error', error: { type: 'api_error', message: errorMessage } },
      { type: 'error', message: errorMessage },
      { error: errorMessage },
      { error: { message: errorMessage } },
      { message: errorMessage },
      { errors: [{ message: errorMessage }] },
      { error: errorMessage, choices: [], content: [] },
      { object: 'error', message: errorMessage, choices: null, content: null },
    ])('is reported with its message: %j', async (reply) => {
      for (const stream of [false, true]) {
        upstream.script(jsonReply(reply));
        const { status, error } = await service.chat(deployment, { messages: hello, stream });
        expect(status).toBeGreaterThanOrEqual(500);
        expect(error.message).toContain(errorMessage);
        service.forgetFailures();
      }
    });

    it('determines the status if it has an HTTP status as its code', async () => {
      upstream.script(jsonReply({ object: 'error', message: 'too long', type: 'BadRequestError', param: 'messages', code: 400 }));
      expect(await service.chat(deployment === 'anthropic' ? 'openai' : deployment, { messages: hello })).toMatchObject({
        status: 400,
        error: { message: 'too long', param: 'messages' },
      });
    });
  },
);
