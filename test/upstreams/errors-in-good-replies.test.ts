import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, hello, plainCompletion } from '#test/chunks.ts';
import { upstreamsAreOdd } from '#test/described-answers.ts';
import { jsonReply, piecesReply, type ScriptedUpstream, startScriptedUpstream, toEvent } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { createUpstream } from '#test/vendor-replies.ts';

upstreamsAreOdd();

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

const said = 'CUDA out of memory';
const named = (value: unknown): string => `event: error\n${toEvent(value)}`;

/** Errors as servers of models write them into a stream that has begun well. */
const errors: readonly (readonly [string, string])[] = [
  ['vLLM’s form', toEvent({ object: 'error', message: said, type: 'InternalServerError', param: null, code: 500 })],
  ['the same without a number', toEvent({ object: 'error', message: said })],
  ['FastAPI’s form', toEvent({ detail: said })],
  ['FastAPI’s list', toEvent({ detail: [{ loc: ['body'], msg: said, type: 'missing' }] })],
  ['the form of the Messages dialect', toEvent({ type: 'error', error: { type: 'api_error', message: said } })],
  ['a type and a message', toEvent({ type: 'error', message: said })],
  ['an event of that name with a message', named({ message: said })],
  ['an event of that name with another form', named({ code: 500, msg: said })],
  ['an event of that name with an error', named({ error: { message: said } })],
  ['an event of that name in words', `event: error\ndata: ${said}\n\n`],
  ['an error that is a text', toEvent({ error: said })],
  ['an error that is an object', toEvent({ error: { message: said, code: 'oom' } })],
  ['a message alone', toEvent({ message: said })],
  ['a list of errors', toEvent({ errors: [{ message: said }] })],
];

const compat = [
  toEvent(delta({ role: 'assistant', content: 'Half' })) + toEvent(delta({ content: ' of' })),
  'data: [DONE]\n\n',
] as const;

/** What comes ahead of the error, and the good end that follows it all the same. */
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

/** The vendors' packages tell that an event is no JSON, and not what it is. */
function isLost(deployment: string, event: string): boolean {
  return ['gemini', 'mistral'].includes(deployment) && !event.includes('{');
}

describe.each(Object.entries(around))('an error in the middle of a good stream of %s', (deployment, [begin, end]) => {
  it.each(errors)('is told as one: %s', async (_form, event) => {
    upstream.script(piecesReply(begin, event, end));
    const reader = await service.stream(deployment, { messages: hello });
    const { content, error, isDone, chunks } = await reader.readRest();
    expect([content(), isDone]).toEqual(['Half of', true]);
    expect(error?.message).toContain(isLost(deployment, event) ? 'The answer of' : said);
    expect(chunks.some(({ choices }) => choices.some(({ finish_reason: reason }) => reason))).toBe(false);
  });

  it.each(errors)('leaves no half answer if JSON was asked for: %s', async (_form, event) => {
    upstream.script(piecesReply(begin + event + end));
    const { status, error } = await service.chat(deployment, { messages: hello });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(error.message).toContain(isLost(deployment, event) ? 'The answer of' : said);
  });
});

describe('an error in the middle of a stream that is relayed in the Messages dialect', () => {
  const [begin, end] = around.anthropic;

  it.each(errors)('is told as one: %s', async (_form, event) => {
    upstream.script(piecesReply(begin, event, end));
    const body = { model: 'anthropic', max_tokens: 9, messages: hello, stream: true };
    const { text } = await service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body });
    expect(text).toContain('Half');
    expect(text).not.toContain('message_stop');
    expect(text.trim().split('\n\n').at(-1)).toMatch(new RegExp(`^event: error\ndata: .*${said}`));
  });
});

describe.each(['openai', 'application', 'adapter'])('a choice of %s that ends with an error', (deployment) => {
  const failed = (reason: string, more: object = {}) => ({
    ...finish(),
    choices: [{ index: 0, delta: {}, finish_reason: reason, ...more }],
  });

  it.each([
    ['says so as its reason', failed('error'), 'error'],
    ['was ended by its server', failed('abort'), 'abort'],
    ['has an error beside it', failed('stop', { error: { code: 502, message: said } }), said],
  ])('is no good answer: it %s', async (_how, event, words) => {
    const [begin, end] = around.openai;
    upstream.script(piecesReply(begin, toEvent(event), end));
    const { content, error, chunks } = await (await service.stream(deployment, { messages: hello })).readRest();
    expect(content()).toBe('Half of');
    expect(error?.message).toContain(words);
    expect(chunks.some(({ choices }) => choices.some(({ finish_reason: reason }) => reason))).toBe(false);
  });

  it.each([
    ['says so as its reason', { finish_reason: 'error' }],
    ['was ended by its server', { finish_reason: 'abort' }],
    ['has an error beside it', { finish_reason: 'stop', error: { code: 502, message: said } }],
  ])('is none in one JSON text either: it %s', async (_how, fields) => {
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

describe('a message that ends with an error', () => {
  const [begin, end] = around.anthropic;
  const reason = toEvent({ type: 'message_delta', delta: { stop_reason: 'error' }, usage: { output_tokens: 2 } });

  it('is no good answer, translated or relayed', async () => {
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
  'an error in a whole reply of %s with status 200',
  (deployment) => {
    it.each([
      { object: 'error', message: said, type: 'InternalServerError', param: null, code: 500 },
      { detail: said },
      { type: 'error', error: { type: 'api_error', message: said } },
      { type: 'error', message: said },
      { error: said },
      { error: { message: said } },
      { message: said },
      { errors: [{ message: said }] },
      { error: said, choices: [], content: [] },
      { object: 'error', message: said, choices: null, content: null },
    ])('is told in its words: %j', async (reply) => {
      for (const stream of [false, true]) {
        upstream.script(jsonReply(reply));
        const { status, error } = await service.chat(deployment, { messages: hello, stream });
        expect(status).toBeGreaterThanOrEqual(500);
        expect(error.message).toContain(said);
        service.forgetFailures();
      }
    });

    it('keeps the status that it names', async () => {
      upstream.script(jsonReply({ object: 'error', message: 'too long', type: 'BadRequestError', param: 'messages', code: 400 }));
      expect(await service.chat(deployment === 'anthropic' ? 'openai' : deployment, { messages: hello })).toMatchObject({
        status: 400,
        error: { message: 'too long', param: 'messages' },
      });
    });
  },
);
