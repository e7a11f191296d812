import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { chunk, delta, finish, plainReply, text } from '#test/chunks.ts';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { buildBlocks, findGrammarErrors, readMessageEvents } from '#test/message-events.ts';
import { RecordedTelemetry } from '#test/recorded-telemetry.ts';
import {
  errorReply,
  eventsReply,
  type ScriptedUpstream,
  silence,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { openStream } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { untilStill } from '#test/until-still.ts';
import { createBody, post } from './support.ts';

const telemetry = new RecordedTelemetry();
let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  service = await startService(
    {
      models: { m: { upstreams: [{ endpoint: upstream.endpoint }], maxRetryAttempts: 1 } },
      applications: { app: { endpoint: `${upstream.url}/app` } },
    },
    { telemetry },
  );
});

afterEach(() => {
  service.forgetFailures();
  vi.useRealTimers();
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const open = (model: string) =>
  openStream(service.url, { path: '/msgapi/v1/messages', headers: withKey(), body: createBody({ model, stream: true }) });

describe('translated stream', () => {
  it('has the event order of the Messages API and no [DONE]', async () => {
    upstream.script(eventsReply(...plainReply('Hel', 'lo')));
    const answer = await post(service, { stream: true });
    expect(answer.headers['content-type']).toContain('text/event-stream');
    expect(answer.text).not.toContain('[DONE]');
    const events = readMessageEvents(answer.text);
    expect(findGrammarErrors(events)).toEqual([]);
    expect(buildBlocks(events)).toEqual([{ type: 'text', text: 'Hello' }]);
    expect(events.at(-2)).toMatchObject({ usage: { input_tokens: 7, output_tokens: 5 } });
  });

  it('is sent as it arrives', async () => {
    const resume = Promise.withResolvers<void>();
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(...plainReply('first').slice(0, 2));
      await resume.promise;
      await exchange.events(...plainReply('second').slice(1));
      exchange.done();
    });
    const reader = await open('m');
    let data = await reader.next();
    while (!data?.includes('first')) data = await reader.next();
    resume.resolve();
    while (data !== undefined && !data.includes('message_stop')) data = await reader.next();
    expect(data).toContain('message_stop');
  });

  it('of an application sends stages in pings, and the complete custom content at the end', async () => {
    const stage = (more: object) => delta({ custom_content: { stages: [{ index: 0, ...more }] } });
    const usage_per_model = [{ index: 0, model: 'x', name: 'x', prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }];
    upstream.script(
      eventsReply(
        delta({ role: 'assistant' }),
        stage({ name: 'Work', status: null }),
        stage({ status: 'completed' }),
        text('Done.'),
        finish(),
        chunk({ statistics: { usage_per_model } }),
      ),
    );
    const events = readMessageEvents((await post(service, { model: 'app', stream: true })).text);
    expect(findGrammarErrors(events)).toEqual([]);
    expect(events.filter(({ type }) => type === 'ping')).toMatchObject([
      { parley: { custom_content: { stages: [{ index: 0, name: 'Work', status: null }] } } },
      { parley: { custom_content: { stages: [{ index: 0, status: 'completed' }] } } },
    ]);
    expect(events.at(-2)).toMatchObject({
      parley: { custom_content: { stages: [{ index: 0, name: 'Work', status: 'completed' }] }, statistics: { usage_per_model } },
    });
  });

  it('returns a function call, and sends its result to the application as a function message with the state', async () => {
    upstream.script(
      eventsReply(
        delta({ role: 'assistant', function_call: { name: 'ask_user', arguments: '{"what":"name"}' } }),
        delta({ custom_content: { state: { signed: 'yes' } } }),
        finish('function_call'),
      ),
    );
    const first = (await post(service, { model: 'app' })).json as { content: { id: string }[]; parley: object };
    expect(first).toMatchObject({
      content: [{ type: 'tool_use', name: 'ask_user', input: { what: 'name' } }],
      stop_reason: 'tool_use',
    });
    upstream.script(eventsReply(...plainReply('Hello, Ann.')));
    const result = { type: 'tool_result', tool_use_id: first.content[0]?.id, content: 'Ann' };
    const messages = [
      { role: 'user', content: 'Greet me.' },
      { role: 'assistant', content: first.content, parley: first.parley },
      { role: 'user', content: [result] },
    ];
    await post(service, { model: 'app', messages });
    expect(upstream.requests.at(-1)?.body.messages).toMatchObject([
      { role: 'user', content: 'Greet me.' },
      {
        role: 'assistant',
        function_call: { name: 'ask_user', arguments: '{"what":"name"}' },
        custom_content: { state: { signed: 'yes' } },
      },
      { role: 'function', name: 'ask_user', content: 'Ann' },
    ]);
  });

  it('receives pings while it is idle', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const started = Promise.withResolvers<void>();
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(...plainReply('x').slice(0, 2));
      started.resolve();
    });
    const reader = await open('m');
    await started.promise;
    let data = await reader.next();
    while (!data?.includes('text_delta')) data = await reader.next();
    vi.advanceTimersByTime(15_000);
    expect(await reader.next()).toBe('event: ping\n{"type":"ping"}');
    reader.disconnect();
    await telemetry.ended();
  });
});

describe('upstream error', () => {
  it.each([
    ['closed connection', (exchange: UpstreamExchange) => exchange.destroyConnection()],
    ['stream without an end mark', (exchange: UpstreamExchange) => void exchange.response.end()],
    ['error event', (exchange: UpstreamExchange) => void exchange.response.end('data: {"error":{"message":"Oops."}}\n\n')],
  ])('midway (%s) causes an error event', async (_form, fail) => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(...plainReply('half').slice(0, 2));
      fail(exchange);
    });
    const answer = await post(service, { stream: true });
    expect(answer.status).toBe(200);
    const events = readMessageEvents(answer.text);
    expect(events.map(({ type }) => type)).toEqual(['message_start', 'content_block_start', 'content_block_delta', 'error']);
    expect(events.at(-1)).toMatchObject({ error: { type: 'api_error', message: expect.stringContaining('m failed') } });
  });

  it('midway fails the open stages', async () => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', custom_content: { stages: [{ index: 0, name: 'Work', status: null }] } }));
      exchange.destroyConnection();
    });
    const events = readMessageEvents((await post(service, { model: 'app', stream: true })).text);
    expect(events.at(-2)).toEqual({ type: 'ping', parley: { custom_content: { stages: [{ index: 0, status: 'failed' }] } } });
    expect(events.at(-1)?.type).toBe('error');
  });

  it('before the first event has its status, streamed or not', async () => {
    for (const stream of [false, true]) {
      upstream.script(errorReply(429, { 'retry-after': '7' }));
      const answer = await post(service, { stream });
      expect([answer.status, answer.headers['retry-after']]).toEqual([429, '7']);
      expect(answer.json).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
      service.forgetFailures();
    }
  });

  it('midway causes an error response for a JSON request', async () => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(...plainReply('half').slice(0, 2));
      exchange.destroyConnection();
    });
    const answer = await post(service, {});
    expect([answer.status, (answer.json as { error: { type: string } }).error.type]).toEqual([500, 'api_error']);
  });

  it('for an incomplete tool call is an error, and the call is not returned', async () => {
    const call = { index: 0, id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{"city":"Par' } };
    upstream.script(eventsReply(delta({ role: 'assistant', tool_calls: [call] }), finish('tool_calls')));
    const streamed = readMessageEvents((await post(service, { stream: true })).text);
    expect(streamed.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } });
    expect((await post(service, {})).status).toBe(500);
  });
});

describe('client disconnect', () => {
  it.each(['m', 'app'])('cancels the upstream request of %s during an open reply and counts the usage', async (model) => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(...plainReply('some text that was sent').slice(0, 2));
    });
    const index = upstream.requests.length;
    const reader = await open(model);
    await reader.next();
    const received = await upstream.request(index);
    await expectClosedOnDisconnect(received, () => reader.disconnect());
    await telemetry.ended();
    expect(telemetry.ends.at(-1)?.outcome).toBe('left');
    if (model === 'm') expect(telemetry.ends.at(-1)?.completionTokens).toBeGreaterThan(0);
  });

  it('cancels the upstream request before the response headers', async () => {
    upstream.script(silence);
    const index = upstream.requests.length;
    const abortController = new AbortController();
    const headers = withKey();
    const body = JSON.stringify(createBody({ model: 'm' }));
    const request = fetch(`${service.url}/msgapi/v1/messages`, { method: 'POST', headers, body, signal: abortController.signal });
    request.catch(() => undefined);
    const received = await upstream.request(index);
    await expectClosedOnDisconnect(received, () => abortController.abort());
    await expect(request).rejects.toThrow();
  });
});

describe('slow client', () => {
  it('limits the rate of the upstream', async () => {
    const piece = 'x'.repeat(64 * 1024);
    let sent = 0;
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(...plainReply('x').slice(0, 2));
      const pump = async (): Promise<void> => {
        while (!exchange.response.destroyed && sent < 4_000) {
          await exchange.events(text(piece));
          sent += 1;
        }
      };
      pump().catch(() => undefined);
    });
    const reader = await open('m');
    reader.pause();
    await untilStill(() => sent);
    expect(sent).toBeLessThan(1_000);
    reader.disconnect();
    await telemetry.ended();
  });
});
