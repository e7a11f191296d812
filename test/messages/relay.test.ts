import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { findGrammarErrors, readMessageEvents } from '#test/message-events.ts';
import { RecordedTelemetry } from '#test/recorded-telemetry.ts';
import {
  errorReply,
  eventsReply,
  jsonReply,
  piecesReply,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { openStream } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { createBody, post, toNamed } from './support.ts';

allowNonconformingUpstreams();

const path = '/msgapi/v1/messages';
const telemetry = new RecordedTelemetry();
let claude: ScriptedUpstream;
let gpt: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  [claude, gpt] = [await startScriptedUpstream(), await startScriptedUpstream()];
  const anthropic = { protocol: 'anthropic', endpoint: claude.endpoint, key: 'claude-key', model: 'claude-upstream' };
  service = await startService(
    {
      models: {
        m: { upstreams: [anthropic], defaults: { temperature: 0.1 }, maxRetryAttempts: 1 },
        helped: { upstreams: [anthropic], defaults: { addons: [{ name: 'gone' }] } },
        both: { upstreams: [anthropic, { endpoint: gpt.endpoint, tier: 1 }] },
        reversed: { upstreams: [{ ...anthropic, tier: 1 }, { endpoint: gpt.endpoint }] },
      },
      addons: { gone: { url: 'http://127.0.0.1:9/openapi.json' } },
    },
    { telemetry },
  );
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await claude.close();
  await gpt.close();
});

const usage = { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 5, output_tokens: 1 };
const start = {
  type: 'message_start',
  message: { id: 'msg_up', type: 'message', role: 'assistant', model: 'claude-upstream', content: [], usage },
};
const stop = { type: 'message_stop' };

/** A valid stream with unusual spacing, unknown events and fields, comments, a signature, escapes, and 4-byte characters. */
const unusualStream =
  toNamed(start) +
  'event: ping\ndata: {"type":   "ping"}\n\n' +
  ': a comment of the upstream\n\n' +
  toNamed({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } } as never) +
  'event: content_block_delta\ndata: {"delta":{"thinking":"H\\u006d \\ud83d\\ude00","type":"thinking_delta"},"index":0,"type":"content_block_delta"}\n\n' +
  toNamed({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'EqQBCkYIARgC+/=' } } as never) +
  toNamed({ type: 'content_block_stop', index: 0 } as never) +
  'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":null}}\n\n' +
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grüße 你好 😀"}}\n\n' +
  'event: brand_new\ndata: {"type":"brand_new","n":1.0e0}\n\n' +
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":1 }\n\n' +
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9},"context_management":{}}\n\n' +
  toNamed(stop);

describe('call to an anthropic upstream', () => {
  it('sends the request unchanged except for the model name', async () => {
    claude.script(jsonReply({ id: 'msg_up', type: 'message', content: [], usage }));
    const body = createBody({
      model: 'm',
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [{ role: 'user', content: [{ type: 'new_block', x: [1.5, null] }] }],
      thinking: { type: 'enabled', budget_tokens: 1024, display: 'omitted' },
      stop_sequences: ['1', '2', '3', '4', '5'],
      context_management: { edits: [] },
    });
    await post(service, body, { 'anthropic-beta': 'one-2025-01-01,two', 'msgapi-version': '2023-01-01' });
    const sent = claude.requests.at(-1) ?? expect.unreachable();
    expect(sent.path).toBe('/v1/messages');
    expect(sent.body).toEqual({ ...body, model: 'claude-upstream' });
    expect(sent.headers).toMatchObject({
      'anthropic-beta': 'one-2025-01-01,two',
      'anthropic-version': '2023-01-01',
      'x-api-key': 'claude-key',
    });
    expect(`${JSON.stringify(sent.headers)}${sent.text}`).not.toContain('caller-key');
  });

  it('is translated if addons require it, so that the model receives their tools', async () => {
    claude.script(piecesReply(unusualStream));
    const answer = await post(service, { model: 'helped', stream: true, extra: 1 });
    expect(claude.requests.at(-1)?.body).not.toHaveProperty('extra');
    expect(findGrammarErrors(readMessageEvents(answer.text))).toEqual([]);
  });

  it('relays the events byte by byte, regardless of their split', async () => {
    const bytes = Buffer.from(unusualStream);
    for (const size of [bytes.length, 1000, 97, 7]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      claude.script(piecesReply(...pieces));
      const answer = await post(service, { model: 'm', stream: true });
      expect(answer.text).toBe(unusualStream);
    }
  });

  it('relays a JSON message byte by byte', async () => {
    const text = `{ "type":"message", "content":[{"type":"text","text":"Gr\\u00fc\\u00dfe 😀","citations":null}],  "new": 1.0, "usage":${JSON.stringify(usage)} }`;
    claude.script(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(text);
    });
    const answer = await post(service, { model: 'm' });
    expect(answer.text).toBe(text);
    expect(answer.headers['content-type']).toContain('application/json');
  });

  it('is recorded with its tokens', async () => {
    claude.script(piecesReply(unusualStream));
    await post(service, { model: 'm', stream: true });
    await telemetry.ended();
    expect(telemetry.ends.at(-1)).toMatchObject({ outcome: 'ok', promptTokens: 12, completionTokens: 9 });
  });

  it('that is aborted midway is recorded with the received part and ends with an error event', async () => {
    const text = 'word '.repeat(40);
    const piece = toNamed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as never);
    claude.script(async (exchange: UpstreamExchange) => {
      exchange.head();
      await exchange.bytes(toNamed(start));
      await exchange.bytes(
        toNamed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never),
      );
      await exchange.bytes(piece.repeat(10));
      exchange.destroyConnection();
    });
    const answer = await post(service, { model: 'm', stream: true });
    expect(readMessageEvents(answer.text).at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } });
    await telemetry.ended();
    expect(telemetry.ends.at(-1)).toMatchObject({ outcome: 'failed', promptTokens: 12 });
    expect(telemetry.ends.at(-1)?.completionTokens).toBeGreaterThan(400);
  });

  it.each([
    ['overloaded_error', 'overloaded_error', 'Busy: ***.'],
    ['rate_limit_error', 'rate_limit_error', 'Busy: ***.'],
    ['invalid_request_error', 'invalid_request_error', 'Busy: ***.'],
    ['timeout_error', 'timeout_error', 'Busy: ***.'],
    ['api_error', 'api_error', 'Busy: ***.'],
    ['authentication_error', 'api_error', 'The answer of m failed: Busy: ***.'],
    ['brand_new_error', 'api_error', 'The answer of m failed: Busy: ***.'],
  ])('that ends with the event %s returns the message of the upstream', async (type, expectedType, message) => {
    const error = { type, message: 'Busy: claude-key.', details: { more: 'claude-key' } };
    const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
    claude.script(piecesReply(toNamed(start), toNamed(block), toNamed({ type: 'error', error, request_id: 'req_up' } as never)));
    const answer = await post(service, { model: 'm', stream: true });
    expect(readMessageEvents(answer.text).at(-1)).toEqual({
      type: 'error',
      error: { type: expectedType, message },
      request_id: answer.headers['x-request-id'],
    });
  });

  it('is an upstream error if the reply is streamed instead of JSON, or the reverse', async () => {
    claude.script(piecesReply(unusualStream));
    const streamed = await post(service, { model: 'm' });
    claude.script(jsonReply({ id: 'msg_up', type: 'message', content: [], usage }));
    const completeReply = await post(service, { model: 'm', stream: true });
    for (const { status, json } of [streamed, completeReply])
      expect([status, (json as { error: { type: string } }).error.type]).toEqual([500, 'api_error']);
  });

  it('is rejected with the error of the upstream', async () => {
    const error = { type: 'invalid_request_error', message: 'max_tokens: too many' };
    claude.script(jsonReply({ type: 'error', error }, 400));
    const answer = await post(service, { model: 'm', stream: true });
    expect([answer.status, (answer.json as { error: unknown }).error]).toEqual([400, error]);
  });

  it('is canceled if the client disconnects', async () => {
    claude.script(async (exchange) => {
      exchange.head();
      await exchange.bytes(unusualStream.slice(0, unusualStream.indexOf('event: brand_new')));
    });
    const index = claude.requests.length;
    const reader = await openStream(service.url, { path, headers: withKey(), body: createBody({ model: 'm', stream: true }) });
    await reader.next();
    const received = await claude.request(index);
    await expectClosedOnDisconnect(received, () => reader.disconnect());
    await telemetry.ended();
    expect(telemetry.ends.at(-1)).toMatchObject({ outcome: 'left', promptTokens: 12 });
  });
});

describe('token count', () => {
  const count = (body: object) =>
    service.sendRequest({ path: `${path}/count_tokens`, headers: { ...withKey(), 'anthropic-beta': 'b' }, body });

  it('is requested from the anthropic upstream at every position', async () => {
    claude.script(jsonReply({ input_tokens: 42 }));
    for (const model of ['m', 'reversed']) {
      const body = { model, messages: [{ role: 'user', content: [{ type: 'new_block' }] }], extra: 1 };
      expect((await count(body)).json).toEqual({ input_tokens: 42 });
      const sent = claude.requests.at(-1) ?? expect.unreachable();
      expect([sent.path, sent.body]).toEqual(['/v1/messages/count_tokens', { ...body, model: 'claude-upstream' }]);
      expect(sent.headers).toMatchObject({ 'anthropic-beta': 'b', 'x-api-key': 'claude-key' });
    }
  });

  it.each([
    [errorReply(400), 400, 'invalid_request_error'],
    [errorReply(401), 500, 'api_error'],
    [jsonReply({ tokens: 1 }), 500, 'api_error'],
  ])('returns an error of the Messages API if the upstream fails', async (reply, status, type) => {
    claude.script(reply);
    const answer = await count({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
    expect([answer.status, (answer.json as { error: { type: string } }).error.type]).toEqual([status, type]);
  });
});

describe('deployment with upstreams of two protocols', () => {
  it('uses a translated upstream if the anthropic upstream fails', async () => {
    claude.script(errorReply(503));
    gpt.script(eventsReply(...plainReply('Translated.')));
    const answer = await post(service, { model: 'both', stream: true, max_tokens: 7 });
    expect(findGrammarErrors(readMessageEvents(answer.text))).toEqual([]);
    expect(answer.text).toContain('Translated.');
    expect(gpt.requests.at(-1)?.body).toMatchObject({ model: 'both', max_tokens: 7, stream: true });
  });

  it('relays the anthropic upstream byte by byte if the translated upstream fails', async () => {
    gpt.script(errorReply(503));
    claude.script(piecesReply(unusualStream));
    const answer = await post(service, { model: 'reversed', stream: true });
    expect(answer.text).toBe(unusualStream);
  });

  it('does not send signed thoughts to the other protocol', async () => {
    claude.script(errorReply(503));
    gpt.script(eventsReply(...plainReply('x')));
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'text', text: 'So.' },
    ];
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content },
      { role: 'user', content: 'b' },
    ];
    await post(service, { model: 'both', messages });
    expect(gpt.requests.at(-1)?.body.messages).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'So.' },
      { role: 'user', content: 'b' },
    ]);
  });
});
