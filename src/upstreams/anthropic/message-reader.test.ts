import { describe, expect, it } from 'vitest';
import { mergeCounts, toFinishReason, toUsage } from './message-reader.ts';

describe('toFinishReason', () => {
  it.each([
    ['end_turn', 'stop', 'tool_calls'],
    ['stop_sequence', 'stop', 'tool_calls'],
    ['pause_turn', 'stop', 'tool_calls'],
    ['tool_use', 'stop', 'tool_calls'],
    ['max_tokens', 'length', 'length'],
    ['model_context_window_exceeded', 'length', 'length'],
    ['refusal', 'content_filter', 'content_filter'],
    ['a_reason_to_come', 'stop', 'tool_calls'],
    [undefined, 'stop', 'tool_calls'],
  ])('converts %j to %s, and with calls to %s', (reason, without, withCalls) => {
    expect([toFinishReason(reason, false), toFinishReason(reason, true)]).toEqual([without, withCalls]);
  });
});

describe('toUsage', () => {
  it('adds the tokens of the cache to the prompt', () => {
    const counts = { input_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 3000, output_tokens: 4 };
    expect(toUsage(counts)).toEqual({
      prompt_tokens: 3210,
      completion_tokens: 4,
      total_tokens: 3214,
      prompt_tokens_details: { cached_tokens: 200, cache_write_tokens: 3000 },
    });
  });

  it('omits cache counts that the upstream does not report', () => {
    const plain = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    expect(toUsage({ input_tokens: 1, output_tokens: 2 })).toEqual(plain);
    expect(toUsage({ input_tokens: 1, output_tokens: 2, cache_read_input_tokens: null, output_tokens_details: null })).toEqual(
      plain,
    );
    expect(toUsage({})).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  });

  it('counts thoughts as part of the reply', () => {
    const counts = { input_tokens: 1, output_tokens: 9, output_tokens_details: { thinking_tokens: 7 } };
    expect(toUsage(counts)).toMatchObject({ completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 7 } });
  });

  it('replaces earlier counts with later ones, but not with null', () => {
    expect(mergeCounts({ input_tokens: 5, output_tokens: 1 }, { output_tokens: 8, input_tokens: null })).toEqual({
      input_tokens: 5,
      output_tokens: 8,
    });
  });
});
