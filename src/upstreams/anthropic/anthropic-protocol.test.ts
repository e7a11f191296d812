import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LeanClient } from '#base/http/lean-client.ts';
import { Secret } from '#base/secrets/secret.ts';
import { toAsyncIterable } from '#base/stream/async-items.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import type { Attempt, NativeRequest, Upstream } from '#domain/upstreams/upstream.ts';
import { fixture } from '#test/anthropic-streams.ts';
import { jsonReply, piecesReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { withChoices, withFunctions } from '../protocol-adapters.ts';
import { createAnthropicProtocol } from './anthropic-protocol.ts';

const http = new LeanClient();
const protocol = withFunctions(withChoices(createAnthropicProtocol(http, { epochMs: () => 1_700_000_000_000 })), () => 'id');
let scripted: ScriptedUpstream;

beforeAll(async () => {
  scripted = await startScriptedUpstream();
});

afterAll(async () => {
  http.close();
  await scripted.close();
});

function createAttempt(native: Partial<NativeRequest>, fields: Partial<Upstream> = {}): Attempt {
  const upstream: Upstream = {
    id: 'u',
    revision: 'u',
    protocol: 'anthropic',
    endpoint: new URL(scripted.endpoint),
    apiVersion: undefined,
    region: undefined,
    key: new Secret('upstream-key'),
    model: 'claude-x',
    headers: {},
    weight: 1,
    tier: 0,
    timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
    ...fields,
  };
  return {
    upstream,
    request: { messages: [{ role: 'user', content: 'translated' }] },
    headers: { 'x-request-id': 'r1' },
    nativeRequest: { dialect: 'messages', body: { model: 'ours' }, headers: {}, ...native },
  };
}

async function readFrames(attempt: Attempt): Promise<RawFrame[]> {
  const frames: RawFrame[] = [];
  for await (const frame of toAsyncIterable<RawFrame>((sink) => protocol.chat(attempt, sink))) frames.push(frame);
  return frames;
}

async function countTokens(attempt: Attempt): Promise<number | undefined> {
  const { countTokens: count } = protocol;
  if (count === undefined) return undefined;
  for await (const tokens of toAsyncIterable<number>((sink) => count(attempt, sink))) return tokens;
  return undefined;
}

const message = {
  id: 'm',
  type: 'message',
  content: [{ type: 'text', text: 'é' }],
  usage: { input_tokens: 3, output_tokens: 2 },
};

describe('a Messages request to an upstream of the same dialect', () => {
  it('is sent unchanged, except for the model name', async () => {
    const body = {
      max_tokens: 9,
      model: 'ours',
      messages: [{ role: 'user', content: 'x' }],
      field_to_come: [null, { a: 1 }],
      stream: false,
    };
    scripted.script(jsonReply(message));
    const index = scripted.requests.length;
    await readFrames(createAttempt({ body }));
    const { path, text } = await scripted.request(index);
    expect([path, text]).toEqual(['/v1/messages', JSON.stringify({ ...body, model: 'claude-x' })]);
  });

  it("has the client's version and betas if the configuration sets none, and never another key", async () => {
    scripted.script(jsonReply(message));
    const index = scripted.requests.length;
    const headers = { 'anthropic-version': '2023-01-01', 'anthropic-beta': 'a-1,b-2', 'x-api-key': 'of the caller' };
    await readFrames(createAttempt({ headers }));
    await readFrames(createAttempt({ headers }, { headers: { 'Anthropic-Version': '2024-01-01', 'Anthropic-Beta': 'c-3' } }));
    expect((await scripted.request(index)).headers).toMatchObject({
      ...headers,
      'x-api-key': 'upstream-key',
      'x-request-id': 'r1',
    });
    expect((await scripted.request(index + 1)).headers).toMatchObject({
      'anthropic-version': '2024-01-01',
      'anthropic-beta': 'c-3,a-1,b-2',
      'x-api-key': 'upstream-key',
    });
  });

  it('returns a complete reply byte for byte, with its token counts', async () => {
    const text = `{ "usage":{"input_tokens":3,"output_tokens":2}, "content" : [{"type":"text","text":"é\\u00e9"}]  }\n`;
    scripted.script(({ response }) => void response.writeHead(200, { 'content-type': 'application/json' }).end(text));
    const [frame, ...otherFrames] = await readFrames(createAttempt({}));
    expect(otherFrames).toEqual([]);
    expect(Buffer.from(frame?.bytes ?? '', 'latin1').toString()).toBe(text);
    expect(frame?.native).toMatchObject({
      isCompleteReply: true,
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
  });

  it.each(['text', 'thinking', 'server-tools'])('returns the stream "%s" byte for byte', async (name) => {
    const bytes = fixture(name);
    scripted.script(piecesReply(Buffer.from(bytes.slice(0, 700), 'latin1'), Buffer.from(bytes.slice(700), 'latin1')));
    const frames = await readFrames(createAttempt({ body: { stream: true } }));
    expect(frames.map((frame) => frame.bytes).join('')).toBe(bytes);
    expect(frames.every(({ native }) => native !== undefined)).toBe(true);
  });

  it('is rejected with the status and the message of the upstream', async () => {
    scripted.script(jsonReply({ type: 'error', error: { type: 'invalid_request_error', message: 'no' } }, 400));
    await expect(readFrames(createAttempt({}))).rejects.toMatchObject({
      name: 'UpstreamError',
      kind: 'refused',
      status: 400,
      message: 'no',
    });
  });

  it('is counted by the upstream', async () => {
    scripted.script(jsonReply({ input_tokens: 321 }));
    const index = scripted.requests.length;
    await expect(countTokens(createAttempt({ body: { model: 'ours', messages: [] } }))).resolves.toBe(321);
    const { path, body } = await scripted.request(index);
    expect([path, body]).toEqual(['/v1/messages/count_tokens', { model: 'claude-x', messages: [] }]);
    for (const answer of [jsonReply({}), jsonReply('x'), jsonReply({ error: { message: 'no' } }, 404)]) {
      scripted.script(answer);
      await expect(countTokens(createAttempt({}))).rejects.toMatchObject({ name: 'UpstreamError' });
    }
  });
});
