import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, hello, plainCompletion, plainReply, text } from '#test/chunks.ts';
import {
  eventsReply,
  jsonReply,
  piecesReply,
  type Reply,
  type ScriptedUpstream,
  startScriptedUpstream,
  toEvent,
} from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const upstreams = [{ endpoint: upstream.endpoint, timeouts: { firstByteMs: 300, idleMs: 300 } }];
  service = await startService({
    models: { m: { upstreams, maxRetryAttempts: 1 }, again: { upstreams, maxRetryAttempts: 2 } },
    applications: { app: { endpoint: `${upstream.url}/app` } },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const start = delta({ role: 'assistant', content: 'half a re' });
const bytesOf = (...values: unknown[]): string => values.map(toEvent).join('');

/** Sends the beginning of a reply, then does what ends it. */
function begun(end: Reply, ...values: unknown[]): Reply {
  return async (answering) => {
    answering.head();
    await answering.events(start, ...values);
    await end(answering);
  };
}

const breaks: readonly (readonly [string, Reply])[] = [
  ['closes without an end mark', begun(({ response }) => void response.end())],
  ['closes without an end mark after its finish reason', begun(({ response }) => void response.end(), finish())],
  ['is cut', begun((answering) => answering.destroyConnection())],
  ['is reset', begun((answering) => answering.reset())],
  [
    'is cut inside an event',
    begun(async (answering) => {
      await answering.bytes(bytesOf(text('more')).slice(0, 20));
      answering.destroyConnection();
    }),
  ],
  [
    'sends an error',
    begun((answering) =>
      answering.events({ error: { message: 'overheated', type: 'x', code: 'hot' } }).then(() => answering.done()),
    ),
  ],
  ['sends invalid JSON', begun((answering) => answering.bytes('data: {bad\n\n').then(() => answering.done()))],
  [
    'sends an error and is cut',
    begun((answering) => answering.events({ error: 'overheated' }).then(() => answering.destroyConnection())),
  ],
  ['falls silent', begun(() => undefined)],
];

describe('a stream whose upstream', () => {
  it.each(breaks)('%s ends with one error event and the end mark', async (_how, reply) => {
    upstream.script(reply);
    const reader = await service.stream('m', { messages: hello });
    expect(reader.status).toBe(200);
    const { content, error, isDone, chunks, data } = await reader.readRest();
    expect(content()).toBe('half a re');
    expect(isDone).toBe(true);
    expect(error).toMatchObject({ type: 'upstream_error', code: 'upstream_failed', param: null });
    expect(Object.keys(error ?? {}).sort()).toEqual(['code', 'message', 'param', 'type']);
    expect(data.at(-1)).toContain('"error"');
    expect(chunks.some(({ statistics }) => statistics !== undefined)).toBe(false);
  });

  it.each(breaks)('%s returns no partial JSON reply', async (_how, reply) => {
    upstream.script(reply);
    const answer = await service.chat('m', { messages: hello });
    expect([answer.status, answer.error.type, answer.error.code]).toEqual([500, 'upstream_error', 'upstream_failed']);
    expect(answer.text).not.toContain('half a re');
  });

  it.each<[string, Reply]>([
    ['is silent from the head on', (answering) => answering.head()],
    ['closes at once', piecesReply()],
    ['sends comments only', piecesReply(': hello\n\n', ': there\n\n')],
    [
      'is cut behind its head',
      (answering) => {
        answering.head();
        answering.destroyConnection();
      },
    ],
    [
      'answers with JSON of no length',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end();
      },
    ],
  ])('%s has not answered: another try is made, and then it is unavailable', async (_how, reply) => {
    for (const body of [{ stream: true }, { stream: false }]) {
      upstream.script(reply);
      const answer = await service.chat('m', { messages: hello, ...body });
      expect([answer.status, answer.error.code]).toEqual([503, 'upstream_unavailable']);
      service.forgetFailures();
      upstream.script(reply, eventsReply(...plainReply('fine')));
      const { completion } = await service.chat('again', { messages: hello });
      expect(completion.choices[0]?.message.content).toBe('fine');
      service.forgetFailures();
    }
  });

  it.each([
    ['sends the end mark only', piecesReply('data: [DONE]\n\n')],
    ['sends data that is not JSON', piecesReply('data: oops\n\n', 'data: [DONE]\n\n')],
    ['is cut in its first event', piecesReply(bytesOf(start).slice(0, 20))],
    ['sends an error first', eventsReply({ error: { message: 'overheated', code: 'hot' } })],
  ])('%s returns its own status', async (_how, reply) => {
    upstream.script(reply);
    for (const body of [{ stream: true }, { stream: false }]) {
      const answer = await service.chat('m', { messages: hello, ...body });
      expect([answer.status, answer.error.code]).toEqual([500, 'upstream_failed']);
      expect(answer.headers['content-type']).toContain('application/json');
      service.forgetFailures();
    }
  });

  it.each([
    [{ code: 429 }, 429, 'upstream_rate_limited'],
    [{ type: 'rate_limit_error', code: null }, 429, 'upstream_rate_limited'],
    [{ type: 'requests', code: 'rate_limit_exceeded' }, 429, 'upstream_rate_limited'],
    [{ type: 'invalid_request_error', code: 'odd' }, 400, 'odd'],
    [{ type: 'overloaded_error' }, 503, 'upstream_unavailable'],
    [{ type: 'server_error', code: 'constructor' }, 500, 'upstream_failed'],
  ])('sends an error first returns the matching status: %j', async (error, status, code) => {
    upstream.script(eventsReply({ error: { message: 'slow down', ...error } }));
    const answer = await service.chat('m', { messages: hello, stream: true });
    expect([answer.status, answer.error.code]).toEqual([status, code]);
  });

  it('breaks off inside tool arguments never looks complete', async () => {
    const call = { index: 0, id: 'c1', type: 'function' as const, function: { name: 'pay', arguments: '{"amount": 1' } };
    upstream.script(begun((answering) => answering.destroyConnection(), delta({ tool_calls: [call] })));
    const { chunks, error } = await (await service.stream('m', { messages: hello })).readRest();
    expect(chunks.every(({ choices }) => choices.every(({ finish_reason: reason }) => reason === null))).toBe(true);
    expect(error?.code).toBe('upstream_failed');
    upstream.script(begun((answering) => answering.destroyConnection(), delta({ tool_calls: [call] })));
    expect((await service.chat('m', { messages: hello })).status).toBe(500);
  });
});

describe('stages that are open when a reply breaks', () => {
  it('are closed as failed before the error', async () => {
    const stage = (part: object) => delta({ custom_content: { stages: [part as { index: number }] } });
    upstream.script(async (answering) => {
      answering.head();
      await answering.events(
        delta({ role: 'assistant' }),
        stage({ index: 0, name: 'done', status: null }),
        stage({ index: 0, status: 'completed' }),
        stage({ index: 1, name: 'open', status: null }),
        stage({ index: 1, content: 'working' }),
        stage({ index: 2, name: 'open too', status: null, content: 'x' }),
      );
      answering.destroyConnection();
    });
    const { chunks, error, isDone, deltas } = await (await service.stream('app', { messages: hello })).readRest();
    const ended = deltas()
      .flatMap(({ custom_content: custom }) => custom?.stages ?? [])
      .filter(({ status }) => status);
    expect(ended).toEqual([
      { index: 0, status: 'completed' },
      { index: 1, status: 'failed' },
      { index: 2, status: 'failed' },
    ]);
    expect(chunks.at(-1)?.choices[0]?.delta.custom_content?.stages).toEqual([{ index: 2, status: 'failed' }]);
    expect([error?.code, isDone]).toEqual(['upstream_failed', true]);
  });
});

describe('a JSON reply', () => {
  const length = JSON.stringify(plainCompletion('whole')).length;

  it.each([
    [
      'is cut',
      (async (answering) => {
        answering.head(200, { 'content-type': 'application/json', 'content-length': String(length) });
        await answering.bytes(JSON.stringify(plainCompletion('whole')).slice(0, 60));
        answering.destroyConnection();
      }) as Reply,
    ],
    [
      'is no JSON',
      (({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('<html>');
      }) as Reply,
    ],
    ['is no completion', jsonReply({ hello: 'world' })],
    ['is a list', jsonReply([])],
    ['is null', jsonReply(null)],
    ['has choices that are no list', jsonReply({ choices: { 0: 'x' } })],
  ])('that %s is a fault', async (_how, reply) => {
    upstream.script(reply);
    for (const body of [{ stream: true }, { stream: false }]) {
      const answer = await service.chat('m', { messages: hello, ...body });
      expect([answer.status, answer.error.code]).toEqual([500, 'upstream_failed']);
      service.forgetFailures();
    }
  });
});

describe('after a broken reply', () => {
  it('the next call is answered', async () => {
    upstream.script(eventsReply(...plainReply('fine')));
    expect((await service.chat('m', { messages: hello })).completion.choices[0]?.message.content).toBe('fine');
    expect(service.inFlightCalls.size).toBe(0);
  });
});
