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
