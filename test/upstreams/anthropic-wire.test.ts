import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LeanClient } from '#base/http/lean-client.ts';
import { fixture } from '#test/anthropic-streams.ts';
import { hello } from '#test/chunks.ts';
import {
  jsonReply,
  piecesReply,
  type Reply,
  type ScriptedUpstream,
  silence,
  startScriptedUpstream,
} from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: 'Hi.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 2 },
};
const fine = jsonReply(message);
const streamed = (name: string): Reply => piecesReply(Buffer.from(fixture(name), 'latin1'));
const busy = (status: number, headers = {}): Reply =>
  jsonReply({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, status, headers);

const http = new LeanClient();
let first: ScriptedUpstream;
let second: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  [first, second] = [await startScriptedUpstream(), await startScriptedUpstream()];
  const common = { protocol: 'anthropic', key: 'sk-ant-secret', model: 'claude-x' };
  const configured = { 'Anthropic-Version': '2024-01-01', 'anthropic-beta': 'one-1', 'X-Team': 'blue' };
  service = await startService(
    {
      models: {
        claude: { upstreams: [{ ...common, endpoint: first.endpoint }], maxRetryAttempts: 1 },
        slashed: { upstreams: [{ ...common, endpoint: `${first.endpoint}/`, headers: configured }] },
        keyless: { upstreams: [{ protocol: 'anthropic', endpoint: first.endpoint, headers: { authorization: 'Bearer t' } }] },
        two: {
          upstreams: [
            { ...common, endpoint: first.endpoint },
            { ...common, endpoint: second.endpoint, tier: 1 },
          ],
        },
        bounded: { upstreams: [{ ...common, endpoint: first.endpoint }], limits: { maxCompletionTokens: 777 } },
        priced: {
          upstreams: [{ ...common, endpoint: first.endpoint }],
          pricing: { prompt: 0.000003, completion: 0.000015, cacheRead: 0.0000003, cacheWrite: 0.00000375 },
        },
      },
    },
    { http },
  );
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await first.close();
  await second.close();
});

async function captureRequest(deployment: string, body: object) {
  const index = first.requests.length;
  first.script(fine);
  expect((await service.chat(deployment, { messages: hello, ...body })).status).toBe(200);
  return first.request(index);
}

describe('request to an anthropic upstream', () => {
  it('has the path, key, and version, and no header of the client', async () => {
    const { method, path, headers, body } = await captureRequest('claude', {});
    expect([method, path]).toEqual(['POST', '/v1/messages']);
    expect(headers).toMatchObject({
      'x-api-key': 'sk-ant-secret',
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
      accept: 'application/json',
    });
    for (const absent of ['authorization', 'api-key', 'anthropic-beta']) expect(headers).not.toHaveProperty(absent);
    expect(body).toEqual({
      model: 'claude-x',
      max_tokens: 4096,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    });
  });

  it('has the configured headers, and the betas of the configuration and the client', async () => {
    const { path, headers, body } = await captureRequest('slashed', { betas: ['two-2', 'bad\r\nx: y', 3] });
    expect(path).toBe('/v1/messages');
    expect(headers).toMatchObject({ 'anthropic-version': '2024-01-01', 'anthropic-beta': 'one-1,two-2', 'x-team': 'blue' });
    expect(body).not.toHaveProperty('betas');
  });

  it('can have other credentials in configured headers', async () => {
    const { headers, body } = await captureRequest('keyless', {});
    expect(headers).toMatchObject({ authorization: 'Bearer t' });
    expect(headers).not.toHaveProperty('x-api-key');
    expect(body.model).toBe('keyless');
  });

  it('has the token limit of the model unless the client sets a limit', async () => {
    expect((await captureRequest('bounded', {})).body.max_tokens).toBe(777);
    expect((await captureRequest('bounded', { max_tokens: 5 })).body.max_tokens).toBe(5);
  });

  it('asks for a stream if the client streams', async () => {
    const index = first.requests.length;
    first.script(streamed('text'));
    const { content, isDone, usages } = await (await service.stream('claude', { messages: hello })).readRest();
    const { headers, body } = await first.request(index);
    expect([headers.accept, body.stream]).toEqual(['text/event-stream', true]);
    expect([content(), isDone]).toEqual(['Grüße, 你好 😀: "a\\b"\nBye.', true]);
    expect(usages).toMatchObject([{ prompt_tokens: 12, completion_tokens: 15, total_tokens: 27 }]);
  });
});

describe('reply of an anthropic upstream', () => {
  it('is converted between stream and JSON as the client requests', async () => {
    first.script(fine);
    const stream = await (await service.stream('claude', { messages: hello })).readRest();
    expect([stream.content(), stream.isDone, stream.usages]).toMatchObject(['Hi.', true, [{ prompt_tokens: 105 }]]);
    first.script(streamed('tools-parallel'));
    const { completion } = await service.chat('claude', { messages: hello });
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'I look it up.' } });
    expect(completion.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 89 });
  });

  it('has the tokens read from the cache in its usage', async () => {
    first.script(fine);
    const { completion } = await service.chat('priced', { messages: hello });
    expect(completion.usage).toEqual({
      prompt_tokens: 105,
      completion_tokens: 2,
      total_tokens: 107,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 0 },
    });
    expect(completion.statistics?.usage_per_model).toMatchObject([{ model: 'priced', prompt_tokens: 105, completion_tokens: 2 }]);
  });

  it('ends with one error event if it fails midway', async () => {
    for (const bytes of [fixture('error-mid-stream'), fixture('text').slice(0, 900)]) {
      first.script(piecesReply(Buffer.from(bytes, 'latin1')));
      const { error, isDone, chunks } = await (await service.stream('claude', { messages: hello })).readRest();
      expect([error?.code, isDone]).toEqual(['upstream_failed', true]);
      expect(chunks.flatMap(({ choices }) => choices).every(({ finish_reason: reason }) => reason === null)).toBe(true);
    }
  });

  it.each([
    [
      'HTML instead of JSON',
      ({ response }) => void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
    ],
    ['JSON of another API', jsonReply({ choices: [] })],
    ['JSON with malformed content', jsonReply({ ...message, content: ['x'] })],
  ] satisfies [string, Reply][])('fails with 500 if it is %s', async (_what, reply) => {
    first.script(reply);
    const { status, error } = await service.chat('claude', { messages: hello });
    expect([status, error.code]).toEqual([500, 'upstream_failed']);
  });

  it('is requested from the next upstream if it is empty', async () => {
    first.script(({ response }) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end());
    second.script(fine);
    expect((await service.chat('two', { messages: hello })).completion.choices[0]?.message.content).toBe('Hi.');
  });

  it('is requested from the next upstream if the first is overloaded, also in its first event', async () => {
    second.script(fine);
    for (const reply of [busy(529), busy(503), streamed('error-at-once')]) {
      service.forgetFailures();
      first.script(reply);
      expect((await service.chat('two', { messages: hello })).completion.choices[0]?.message.content).toBe('Hi.');
    }
  });

  it('with 429 passes on Retry-After', async () => {
    first.script(busy(429, { 'retry-after': '7' }));
    const { status, headers } = await service.chat('claude', { messages: hello });
    expect([status, headers['retry-after']]).toEqual([429, '7']);
  });

  it('never shows the key, and keeps the code of an error', async () => {
    first.script(jsonReply({ type: 'error', error: { type: 'invalid_request_error', message: 'bad key sk-ant-secret' } }, 400));
    expect((await service.chat('claude', { messages: hello })).error.message).toBe('bad key ***');
    first.script(jsonReply({ error: { message: 'x', details: { error_code: 'prompt_too_long' } } }, 400));
    expect((await service.chat('claude', { messages: hello })).error.code).toBe('prompt_too_long');
  });

  it('is canceled within 100 ms after the client disconnects', async () => {
    for (const reply of [
      silence as Reply,
      (async (exchange) => {
        exchange.head();
        await exchange.bytes(fixture('text').slice(0, 900));
      }) as Reply,
    ]) {
      const index = first.requests.length;
      first.script(reply);
      const client = service.chatAndDisconnect('claude', { messages: hello, stream: true });
      const received = await first.request(index);
      const disconnectedAt = client.disconnect();
      const { atMs, early } = await received.closed;
      expect([early, atMs - disconnectedAt < 100]).toEqual([true, true]);
    }
  });

  it('leaves its connection open for the next call', async () => {
    const connections = new Set<number | undefined>();
    const recordConnection =
      (reply: Reply): Reply =>
      (exchange) => {
        connections.add(exchange.response.socket?.remotePort);
        return reply(exchange);
      };
    first.script(recordConnection(streamed('text')));
    for (let call = 0; call < 3; call += 1) await (await service.stream('claude', { messages: hello })).readRest();
    expect(connections.size).toBe(1);
  });
});
