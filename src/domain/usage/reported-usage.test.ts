import { describe, expect, it } from 'vitest';
import { findUsage, toUsage } from './reported-usage.ts';

const counts = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
const cached = { ...counts, prompt_tokens_details: { cached_tokens: 800 } };

describe('toUsage', () => {
  it.each([
    ['DeepSeek', { ...counts, prompt_cache_hit_tokens: 800, prompt_cache_miss_tokens: 200 }],
    ['Moonshot', { ...counts, cached_tokens: 800 }],
    ['Mistral, at the top', { ...counts, num_cached_tokens: 800 }],
    ['Mistral, under a singular name', { ...counts, prompt_token_details: { cached_tokens: 800 } }],
    ['LiteLLM', { ...counts, cache_read_input_tokens: 800, prompt_tokens_details: null }],
    [
      'LiteLLM, with zero in the usual place',
      { ...counts, cache_read_input_tokens: 800, prompt_tokens_details: { cached_tokens: 0 } },
    ],
    ['vLLM', { ...counts, prompt_tokens_details: { cached_tokens: 800 } }],
    [
      'a server with names of the Responses API',
      { input_tokens: 1000, output_tokens: 50, input_tokens_details: { cached_tokens: 800 } },
    ],
  ])('reads cached tokens of %s', (_vendor, reported) => {
    expect(toUsage(reported)).toMatchObject(cached);
  });

  it.each([
    ['OpenRouter', { ...counts, prompt_tokens_details: { cached_tokens: 800, cache_write_tokens: 100 } }],
    ['LiteLLM, at the top', { ...counts, cache_read_input_tokens: 800, cache_creation_input_tokens: 100 }],
    ['LiteLLM, in the details', { ...counts, prompt_tokens_details: { cached_tokens: 800, cache_creation_tokens: 100 } }],
  ])('reads cache writes of %s', (_vendor, reported) => {
    const details = { cached_tokens: 800, cache_write_tokens: 100 };
    expect(toUsage(reported)).toMatchObject({ ...counts, prompt_tokens_details: details });
  });

  const split = { ephemeral_5m_input_tokens: 70, ephemeral_1h_input_tokens: 30 };
  it.each([
    ['at the top', { ...counts, cache_creation_input_tokens: 100, cache_creation: split }],
    ['in the details', { ...counts, prompt_tokens_details: { cache_creation_tokens: 100, cache_creation_token_details: split } }],
    ['in the details, without their sum', { ...counts, prompt_tokens_details: { cache_creation_token_details: split } }],
    [
      'under names of the Responses API',
      { input_tokens: 1000, output_tokens: 50, input_tokens_details: { cache_creation_token_details: split } },
    ],
  ])('reads how long the cache keeps the tokens: %s', (_place, reported) => {
    const details = { cache_write_tokens: 100, cache_write_1h_tokens: 30 };
    expect(toUsage(reported)).toMatchObject({ ...counts, prompt_tokens_details: details });
  });

  it('reads reasoning tokens at the top', () => {
    expect(toUsage({ ...counts, reasoning_tokens: 40 })).toMatchObject({ completion_tokens_details: { reasoning_tokens: 40 } });
  });

  it('counts reasoning tokens on top of the completion as completion', () => {
    const reported = { prompt_tokens: 10_120, completion_tokens: 1499, total_tokens: 14_428 };
    const details = { completion_tokens_details: { reasoning_tokens: 2809 } };
    const expected = { prompt_tokens: 10_120, completion_tokens: 4308, total_tokens: 14_428, ...details };
    expect(toUsage({ ...reported, ...details })).toEqual(expected);
    expect(toUsage({ ...reported, reasoning_tokens: 2809 })).toMatchObject(expected);
    expect(toUsage(expected)).toEqual(expected);
  });

  it('ignores a total that reasoning tokens do not explain', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 40 } };
    expect(toUsage({ ...counts, total_tokens: 1089, ...details })).toEqual({ ...counts, ...details });
    expect(toUsage({ ...counts, ...details })).toEqual({ ...counts, ...details });
  });

  it('returns the reported object if it is already normalized', () => {
    for (const usual of [counts, cached, { ...counts, cost: 0.1, prompt_tokens_details: null }])
      expect(toUsage(usual)).toBe(usual);
  });

  it.each([
    [{}],
    [{ prompt_tokens: null }],
    [{ prompt_tokens: -1, completion_tokens: 2 }],
    [{ prompt_tokens: 1e300, completion_tokens: 2 }],
    [{ prompt_tokens: '1', completion_tokens: '2' }],
    [{ total_tokens: 5 }],
  ])('returns undefined for %j', (reported) => {
    expect(toUsage(reported)).toBeUndefined();
  });

  it('rounds fractional counts and corrects totals that are not the sum', () => {
    const odd = { prompt_tokens: 1.2, completion_tokens: 2, total_tokens: 9, extra: 1 };
    expect(toUsage(odd)).toEqual({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, extra: 1 });
  });
});

describe('findUsage', () => {
  it('finds usage inside a choice, as Moonshot sends it', () => {
    const choices = [{ index: 0, delta: {}, finish_reason: 'stop', usage: { ...counts, cached_tokens: 800 } }];
    expect(findUsage({ choices })).toMatchObject(cached);
    expect(findUsage({ usage: null, choices })).toMatchObject(cached);
  });

  it('prefers usage outside of choices', () => {
    expect(findUsage({ usage: counts, choices: [{ usage: { ...counts, prompt_tokens: 1 } }] })).toBe(counts);
  });

  it.each([[{}], [{ usage: null, choices: null }], [{ choices: [null, 1, { usage: 'x' }] }]])(
    'returns undefined for %j',
    (chunk) => {
      expect(findUsage(chunk)).toBeUndefined();
    },
  );
});
