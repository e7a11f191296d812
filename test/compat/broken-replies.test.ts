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
const encodeEvents = (...values: unknown[]): string => values.map(toEvent).join('');

/** Sends the start of a reply, then runs `end`. */
function startReply(end: Reply, ...values: unknown[]): Reply {
  return async (exchange) => {
    exchange.head();
    await exchange.events(start, ...values);
    await end(exchange);
  };
}

const abortedReplies: readonly (readonly [string, Reply])[] = [
  ['closes without an end mark', startReply(({ response }) => void response.end())],
  ['closes without an end mark after its finish reason', startReply(({ response }) => void response.end(), finish())],
  ['closes the connection', startReply((exchange) => exchange.destroyConnection())],
  ['resets the connection', startReply((exchange) => exchange.reset())],
  [
    'closes the connection inside an event',
    startReply(async (exchange) => {
      await exchange.bytes(encodeEvents(text('more')).slice(0, 20));
      exchange.destroyConnection();
    }),
  ],
  [
    'sends an error',
    startReply((exchange) =>
      exchange.events({ error: { message: 'overheated', type: 'x', code: 'hot' } }).then(() => exchange.done()),
    ),
  ],
  ['sends invalid JSON', startReply((exchange) => exchange.bytes('data: {bad\n\n').then(() => exchange.done()))],
  [
    'sends an error and closes the connection',
    startReply((exchange) => exchange.events({ error: 'overheated' }).then(() => exchange.destroyConnection())),
  ],
  ['stops sending', startReply(() => undefined)],
];

describe('stream whose upstream', () => {
  it.each(abortedReplies)('%s ends with one error event and [DONE]', async (_how, reply) => {
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

  it.each(abortedReplies)('%s returns no partial JSON reply', async (_how, reply) => {
    upstream.script(reply);
    const answer = await service.chat('m', { messages: hello });
    expect([answer.status, answer.error.type, answer.error.code]).toEqual([500, 'upstream_error', 'upstream_failed']);
    expect(answer.text).not.toContain('half a re');
  });

  it.each<[string, Reply]>([
    ['sends only response headers', (exchange) => exchange.head()],
    ['closes an empty stream', piecesReply()],
    ['sends comments only', piecesReply(': hello\n\n', ': there\n\n')],
    [
      'closes the connection after the response headers',
      (exchange) => {
        exchange.head();
        exchange.destroyConnection();
      },
    ],
    [
      'sends an empty JSON body',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end();
      },
    ],
  ])('%s is retried, and returns 503 after the last attempt', async (_how, reply) => {
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
    ['closes the stream in its first event', piecesReply(encodeEvents(start).slice(0, 20))],
    ['sends an error first', eventsReply({ error: { message: 'overheated', code: 'hot' } })],
  ])('%s returns 500 instead of a stream', async (_how, reply) => {
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

  it('closes the connection inside tool arguments never has a finish reason', async () => {
    const call = { index: 0, id: 'c1', type: 'function' as const, function: { name: 'pay', arguments: '{"amount": 1' } };
    upstream.script(startReply((exchange) => exchange.destroyConnection(), delta({ tool_calls: [call] })));
    const { chunks, error } = await (await service.stream('m', { messages: hello })).readRest();
    expect(chunks.every(({ choices }) => choices.every(({ finish_reason: reason }) => reason === null))).toBe(true);
    expect(error?.code).toBe('upstream_failed');
    upstream.script(startReply((exchange) => exchange.destroyConnection(), delta({ tool_calls: [call] })));
    expect((await service.chat('m', { messages: hello })).status).toBe(500);
  });
});

describe('open stages of an aborted reply', () => {
  it('are closed as failed before the error', async () => {
    const stage = (part: object) => delta({ custom_content: { stages: [part as { index: number }] } });
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(
        delta({ role: 'assistant' }),
        stage({ index: 0, name: 'done', status: null }),
        stage({ index: 0, status: 'completed' }),
        stage({ index: 1, name: 'open', status: null }),
        stage({ index: 1, content: 'working' }),
        stage({ index: 2, name: 'open too', status: null, content: 'x' }),
      );
      exchange.destroyConnection();
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

describe('JSON reply', () => {
  const length = JSON.stringify(plainCompletion('whole')).length;

  it.each([
    [
      'ends early',
      (async (exchange) => {
        exchange.head(200, { 'content-type': 'application/json', 'content-length': String(length) });
        await exchange.bytes(JSON.stringify(plainCompletion('whole')).slice(0, 60));
        exchange.destroyConnection();
      }) as Reply,
    ],
    [
      'is not JSON',
      (({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('<html>');
      }) as Reply,
    ],
    ['is not a completion', jsonReply({ hello: 'world' })],
    ['is a list', jsonReply([])],
    ['is null', jsonReply(null)],
    ['has choices that are not a list', jsonReply({ choices: { 0: 'x' } })],
  ])('that %s is an upstream failure', async (_how, reply) => {
    upstream.script(reply);
    for (const body of [{ stream: true }, { stream: false }]) {
      const answer = await service.chat('m', { messages: hello, ...body });
      expect([answer.status, answer.error.code]).toEqual([500, 'upstream_failed']);
      service.forgetFailures();
    }
  });
});

describe('after an aborted reply', () => {
  it('the next call is answered', async () => {
    upstream.script(eventsReply(...plainReply('fine')));
    expect((await service.chat('m', { messages: hello })).completion.choices[0]?.message.content).toBe('fine');
    expect(service.inFlightCalls.size).toBe(0);
  });
});
