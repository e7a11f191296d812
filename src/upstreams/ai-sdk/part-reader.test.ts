import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import type { Chunk } from '#contract/chat/chunk.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import { PartReader, toFinishReason, toUsage } from './part-reader.ts';
import { type VendorName, vendors } from './vendors.ts';

const usage: LanguageModelV4Usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};
const finish: LanguageModelV4StreamPart = { type: 'finish', usage, finishReason: { unified: 'stop', raw: 'STOP' } };

function read(parts: readonly LanguageModelV4StreamPart[], vendor: VendorName = 'bedrock') {
  const reader = new PartReader(vendors[vendor], 1_700_000_000, 'the-model');
  const chunks = [...parts, finish].flatMap((part): Chunk[] => reader.readPart(part));
  const accumulator = new Accumulator();
  for (const chunk of chunks) accumulator.add(chunk);
  return { chunks, message: accumulator.getCompletion().choices[0]?.message, hasEnded: reader.hasEnded };
}

describe('PartReader', () => {
  it('returns no chunks before the first content, then the role', () => {
    const reader = new PartReader(vendors.gemini, 1_700_000_000, 'the-model');
    const opening: LanguageModelV4StreamPart[] = [
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r-1', modelId: 'm-1' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: '' },
    ];
    expect(opening.flatMap((part) => reader.readPart(part))).toEqual([]);
    const head = { id: 'r-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm-1' };
    expect(reader.readPart({ type: 'text-delta', id: '0', delta: 'Hi' })).toEqual([
      { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] },
    ]);
    expect(reader.hasEnded).toBe(false);
  });

  it('converts calls that are complete, streamed, or share an ID', () => {
    const { message, hasEnded } = read([
      { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: '{"a":1}' },
      { type: 'tool-input-start', id: 'b', toolName: 'g' },
      { type: 'tool-input-delta', id: 'b', delta: '{"b"' },
      { type: 'tool-input-delta', id: 'b', delta: ':2}' },
      { type: 'tool-call', toolCallId: 'b', toolName: 'g', input: '{"b":2}' },
      { type: 'tool-input-start', id: 'b', toolName: 'h' },
      { type: 'tool-call', toolCallId: 'b', toolName: 'h', input: '' },
      { type: 'tool-input-delta', id: 'unknown', delta: 'x' },
    ]);
    expect(message?.tool_calls).toMatchObject([
      { id: 'a', function: { name: 'f', arguments: '{"a":1}' } },
      { id: 'b', function: { name: 'g', arguments: '{"b":2}' } },
      { id: 'b', function: { name: 'h', arguments: '{}' } },
    ]);
    expect(hasEnded).toBe(true);
  });

  it('omits calls that the vendor runs itself', () => {
    const { chunks, message } = read([
      { type: 'tool-input-start', id: 'a', toolName: 'code', providerExecuted: true },
      { type: 'tool-call', toolCallId: 'a', toolName: 'code', input: '{}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 'a', toolName: 'code', result: {} },
    ]);
    expect(message).not.toHaveProperty('tool_calls');
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toContain('stop');
  });

  it('closes reasoning that the vendor did not close, or that it opened as text', () => {
    const signed = { amazonBedrock: { signature: 's' } };
    const block = { type: 'thinking', thinking: 'Hm.', signature: 's' };
    const thought: LanguageModelV4StreamPart[] = [
      { type: 'text-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signed },
    ];
    expect(read(thought).message).toMatchObject({ reasoning_content: 'Hm.', thinking_blocks: [block] });
    expect(read([...thought, { type: 'text-end', id: '0' }]).message?.thinking_blocks).toEqual([block]);
    expect(read(thought, 'gemini').message).not.toHaveProperty('thinking_blocks');
  });

  it('numbers files and sources in the order of arrival', () => {
    const { message } = read([
      { type: 'source', sourceType: 'document', id: '1', mediaType: 'application/pdf', title: 'T', filename: 'a.pdf' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2]) } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.org/a.png') } },
    ]);
    expect(message?.custom_content?.attachments).toEqual([
      { index: 0, type: 'text/plain', title: 'T', data: 'a.pdf' },
      { index: 1, type: 'image/png', data: 'AQI=' },
      { index: 2, type: 'image/png', url: 'https://example.org/a.png' },
    ]);
  });
});

type Unified = LanguageModelV4FinishReason['unified'];

describe('toFinishReason', () => {
  it.each([
    ['stop', 'STOP', 'stop', 'tool_calls'],
    ['tool-calls', 'tool_use', 'stop', 'tool_calls'],
    ['length', 'MAX_TOKENS', 'length', 'length'],
    ['content-filter', 'SAFETY', 'content_filter', 'content_filter'],
    ['other', 'IMAGE_PROHIBITED_CONTENT', 'content_filter', 'content_filter'],
    ['other', 'model_context_window_exceeded', 'length', 'length'],
    ['other', 'A_NEW_REASON', 'stop', 'tool_calls'],
  ] as [Unified, string, string, string][])(
    'converts %s (%s) to %s, and with calls to %s',
    (unified, raw, without, withCalls) => {
      expect([toFinishReason({ unified, raw }, false), toFinishReason({ unified, raw }, true)]).toEqual([without, withCalls]);
    },
  );

  it.each([
    ['interrupted', undefined, /before it was complete/],
    ['other', undefined, /before it was complete/],
    ['error', 'MALFORMED_FUNCTION_CALL', /MALFORMED_FUNCTION_CALL/],
    ['other', 'malformed_tool_use', /malformed_tool_use/],
    ['other', 'UNEXPECTED_TOOL_CALL', /UNEXPECTED_TOOL_CALL/],
    ['error', 'error', /error/],
  ] as [Unified, string | undefined, RegExp][])('throws for %s (%s)', (unified, raw, message) => {
    expect(() => toFinishReason({ unified, raw }, false)).toThrow(message);
  });
});

describe('toUsage', () => {
  const noInput = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const noOutput = { total: undefined, text: undefined, reasoning: undefined };

  it('counts cached and reasoning tokens as part of the totals', () => {
    const inputTokens = { total: 170, noCache: 20, cacheRead: 100, cacheWrite: 50 };
    expect(toUsage({ inputTokens, outputTokens: { total: 74, text: 30, reasoning: 44 } })).toEqual({
      prompt_tokens: 170,
      completion_tokens: 74,
      total_tokens: 244,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 50 },
      completion_tokens_details: { reasoning_tokens: 44 },
    });
  });

  it('reads the tokens cached for an hour from the details of Bedrock', () => {
    const inputTokens = { total: 170, noCache: 20, cacheRead: 100, cacheWrite: 50 };
    const outputTokens = { ...noOutput, total: 1 };
    const usage = (cacheDetails: unknown) =>
      toUsage({ inputTokens, outputTokens, raw: { cacheDetails } as never })?.prompt_tokens_details;
    const details = [
      { ttl: '5m', inputTokens: 20 },
      { ttl: '1h', inputTokens: 30 },
    ];
    expect(usage(details)).toEqual({ cached_tokens: 100, cache_write_tokens: 50, cache_write_1h_tokens: 30 });
    for (const withoutHour of [
      undefined,
      null,
      'x',
      [null, { ttl: '1h' }],
      [{ ttl: '1h', inputTokens: -3 }],
      details.slice(0, 1),
    ])
      expect(usage(withoutHour)).toEqual({ cached_tokens: 100, cache_write_tokens: 50 });
  });

  it('omits counts that the vendor does not report', () => {
    expect(toUsage({ inputTokens: { ...noInput, total: 4 }, outputTokens: noOutput })).toEqual({
      prompt_tokens: 4,
      completion_tokens: 0,
      total_tokens: 4,
    });
    expect(toUsage({ inputTokens: noInput, outputTokens: noOutput })).toBeUndefined();
  });
});
