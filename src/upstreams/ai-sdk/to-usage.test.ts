import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { toFinishReason, toUsage } from './part-reader.ts';

type Unified = LanguageModelV4FinishReason['unified'];

describe('toFinishReason', () => {
  it.each([
    ['stop', 'STOP', 'stop', 'tool_calls'],
    ['tool-calls', 'tool_use', 'stop', 'tool_calls'],
    ['length', 'MAX_TOKENS', 'length', 'length'],
    ['content-filter', 'SAFETY', 'content_filter', 'content_filter'],
    ['other', 'IMAGE_PROHIBITED_CONTENT', 'content_filter', 'content_filter'],
    ['other', 'model_context_window_exceeded', 'length', 'length'],
    ['other', 'A_REASON_TO_COME', 'stop', 'tool_calls'],
  ] as [Unified, string, string, string][])('tells %s (%s) as %s, and with calls as %s', (unified, raw, without, withCalls) => {
    expect([toFinishReason({ unified, raw }, false), toFinishReason({ unified, raw }, true)]).toEqual([without, withCalls]);
  });

  it.each([
    ['interrupted', undefined, /before the end/],
    ['other', undefined, /before the end/],
    ['error', 'MALFORMED_FUNCTION_CALL', /MALFORMED_FUNCTION_CALL/],
    ['other', 'malformed_tool_use', /malformed_tool_use/],
    ['other', 'UNEXPECTED_TOOL_CALL', /UNEXPECTED_TOOL_CALL/],
    ['error', 'error', /error/],
  ] as [Unified, string | undefined, RegExp][])('takes %s (%s) for no end', (unified, raw, message) => {
    expect(() => toFinishReason({ unified, raw }, false)).toThrow(message);
  });
});

describe('toUsage', () => {
  const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const nothing = { total: undefined, text: undefined, reasoning: undefined };

  it('tells cached and thought tokens as part of the whole', () => {
    const inputTokens = { total: 170, noCache: 20, cacheRead: 100, cacheWrite: 50 };
    expect(toUsage({ inputTokens, outputTokens: { total: 74, text: 30, reasoning: 44 } })).toEqual({
      prompt_tokens: 170,
      completion_tokens: 74,
      total_tokens: 244,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 50 },
      completion_tokens_details: { reasoning_tokens: 44 },
    });
  });

  it('reads the cache writes of an hour from the split of Bedrock', () => {
    const inputTokens = { total: 170, noCache: 20, cacheRead: 100, cacheWrite: 50 };
    const outputTokens = { ...nothing, total: 1 };
    const usage = (cacheDetails: unknown) =>
      toUsage({ inputTokens, outputTokens, raw: { cacheDetails } as never })?.prompt_tokens_details;
    const split = [
      { ttl: '5m', inputTokens: 20 },
      { ttl: '1h', inputTokens: 30 },
    ];
    expect(usage(split)).toEqual({ cached_tokens: 100, cache_write_tokens: 50, cache_write_1h_tokens: 30 });
    for (const other of [undefined, null, 'x', [null, { ttl: '1h' }], [{ ttl: '1h', inputTokens: -3 }], split.slice(0, 1)])
      expect(usage(other)).toEqual({ cached_tokens: 100, cache_write_tokens: 50 });
  });

  it('says nothing of what the vendor does not tell', () => {
    expect(toUsage({ inputTokens: { ...none, total: 4 }, outputTokens: nothing })).toEqual({
      prompt_tokens: 4,
      completion_tokens: 0,
      total_tokens: 4,
    });
    expect(toUsage({ inputTokens: none, outputTokens: nothing })).toBeUndefined();
  });
});
