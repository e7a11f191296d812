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

async function sent(deployment: string, body: object) {
  const index = first.requests.length;
  first.script(fine);
  expect((await service.chat(deployment, { messages: hello, ...body })).status).toBe(200);
  return first.request(index);
}

describe('a request to an upstream of the Messages dialect', () => {
  it('goes to its path with its key, a version and no header of the caller', async () => {
    const { method, path, headers, body } = await sent('claude', {});
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

  it('has the header fields of the configuration, and all betas together', async () => {
    const { path, headers, body } = await sent('slashed', { betas: ['two-2', 'bad\r\nx: y', 3] });
    expect(path).toBe('/v1/messages');
    expect(headers).toMatchObject({ 'anthropic-version': '2024-01-01', 'anthropic-beta': 'one-1,two-2', 'x-team': 'blue' });
    expect(body).not.toHaveProperty('betas');
  });

  it('may have credentials of another kind', async () => {
    const { headers, body } = await sent('keyless', {});
    expect(headers).toMatchObject({ authorization: 'Bearer t' });
    expect(headers).not.toHaveProperty('x-api-key');
    expect(body.model).toBe('keyless');
  });

  it('is bounded by the limit of the model, unless it has a bound of its own', async () => {
    expect((await sent('bounded', {})).body.max_tokens).toBe(777);
    expect((await sent('bounded', { max_tokens: 5 })).body.max_tokens).toBe(5);
  });

  it('asks for a stream where the caller does', async () => {
    const index = first.requests.length;
    first.script(streamed('text'));
    const { content, isDone, usages } = await (await service.stream('claude', { messages: hello })).readRest();
    const { headers, body } = await first.request(index);
    expect([headers.accept, body.stream]).toEqual(['text/event-stream', true]);
    expect([content(), isDone]).toEqual(['Grüße, 你好 😀: "a\\b"\nBye.', true]);
    expect(usages).toMatchObject([{ prompt_tokens: 12, completion_tokens: 15, total_tokens: 27 }]);
  });
});

describe('a reply of an upstream of the Messages dialect', () => {
  it('is a stream for one who wants a stream, whatever form it came in', async () => {
    first.script(fine);
    const stream = await (await service.stream('claude', { messages: hello })).readRest();
    expect([stream.content(), stream.isDone, stream.usages]).toMatchObject(['Hi.', true, [{ prompt_tokens: 105 }]]);
    first.script(streamed('tools-parallel'));
    const { completion } = await service.chat('claude', { messages: hello });
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'I look it up.' } });
    expect(completion.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 89 });
  });

  it('tells what was read from the cache', async () => {
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

  it('that fails in the middle ends in one error event', async () => {
    for (const bytes of [fixture('error-mid-stream'), fixture('text').slice(0, 900)]) {
      first.script(piecesReply(Buffer.from(bytes, 'latin1')));
      const { error, isDone, chunks } = await (await service.stream('claude', { messages: hello })).readRest();
      expect([error?.code, isDone]).toEqual(['upstream_failed', true]);
      expect(chunks.flatMap(({ choices }) => choices).every(({ finish_reason: reason }) => reason === null)).toBe(true);
    }
  });

  it.each([
    ['no JSON', ({ response }) => void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>')],
    ['another JSON', jsonReply({ choices: [] })],
    ['content of another form', jsonReply({ ...message, content: ['x'] })],
  ] satisfies [string, Reply][])('that is %s is a failure of the upstream', async (_what, reply) => {
    first.script(reply);
    const { status, error } = await service.chat('claude', { messages: hello });
    expect([status, error.code]).toEqual([500, 'upstream_failed']);
  });

  it('that is nothing is asked of the next upstream', async () => {
    first.script(({ response }) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end());
    second.script(fine);
    expect((await service.chat('two', { messages: hello })).completion.choices[0]?.message.content).toBe('Hi.');
  });

  it('is asked of the next upstream where the first is overloaded, also in its first events', async () => {
    second.script(fine);
    for (const reply of [busy(529), busy(503), streamed('error-at-once')]) {
      service.forgetFailures();
      first.script(reply);
      expect((await service.chat('two', { messages: hello })).completion.choices[0]?.message.content).toBe('Hi.');
    }
  });

  it('that refuses for its rate says when to come again', async () => {
    first.script(busy(429, { 'retry-after': '7' }));
    const { status, headers } = await service.chat('claude', { messages: hello });
    expect([status, headers['retry-after']]).toEqual([429, '7']);
  });

  it('never shows the key', async () => {
    first.script(jsonReply({ type: 'error', error: { type: 'invalid_request_error', message: 'bad key sk-ant-secret' } }, 400));
    expect((await service.chat('claude', { messages: hello })).error.message).toBe('bad key ***');
    first.script(jsonReply({ error: { message: 'x', details: { error_code: 'prompt_too_long' } } }, 400));
    expect((await service.chat('claude', { messages: hello })).error.code).toBe('prompt_too_long');
  });

  it('is not waited for any more once the caller has left', async () => {
    for (const reply of [
      silence as Reply,
      (async (answering) => {
        answering.head();
        await answering.bytes(fixture('text').slice(0, 900));
      }) as Reply,
    ]) {
      const index = first.requests.length;
      first.script(reply);
      const asking = service.chatAndDisconnect('claude', { messages: hello, stream: true });
      const received = await first.request(index);
      const left = asking.disconnect();
      const { atMs, early } = await received.closed;
      expect([early, atMs - left < 100]).toEqual([true, true]);
    }
  });

  it('leaves its connection for the next call', async () => {
    const connections = new Set<number | undefined>();
    const noting =
      (reply: Reply): Reply =>
      (answering) => {
        connections.add(answering.response.socket?.remotePort);
        return reply(answering);
      };
    first.script(noting(streamed('text')));
    for (let call = 0; call < 3; call += 1) await (await service.stream('claude', { messages: hello })).readRest();
    expect(connections.size).toBe(1);
  });
});
