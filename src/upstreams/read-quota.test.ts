import { describe, expect, it } from 'vitest';
import { readQuota } from './read-quota.ts';

const nowMs = Date.parse('2026-01-31T12:00:00Z');

describe('readQuota', () => {
  it.each([
    ['1s', 1_000],
    ['6m0s', 360_000],
    ['1h2m3.5s', 3_723_500],
    ['20ms', 20],
    ['12', 12_000],
    ['2026-01-31T12:00:05Z', 5_000],
    ['2026-01-31T11:00:00Z', 0],
  ])('reads the reset time %s', (reset, resetMs) => {
    const headers = {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '15',
      'x-ratelimit-reset-requests': reset,
    };
    expect(readQuota(headers, nowMs)).toEqual({ remainingShare: 0.25, resetMs, limit: 60 });
  });

  it('returns the quota with the smallest remaining share', () => {
    const headers = {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2026-01-31T12:00:01Z',
      'anthropic-ratelimit-input-tokens-limit': '1000',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-01-31T12:00:30Z',
    };
    expect(readQuota(headers, nowMs)).toEqual({ remainingShare: 0, resetMs: 30_000, limit: 1000 });
  });

  it.each([
    {},
    { 'x-ratelimit-remaining-requests': '5' },
    { 'x-ratelimit-limit-requests': '0', 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1s' },
    { 'x-ratelimit-limit-requests': '-1', 'x-ratelimit-remaining-requests': 'x', 'x-ratelimit-reset-requests': '1s' },
    { 'x-ratelimit-limit-tokens': '9', 'x-ratelimit-remaining-tokens': '1', 'x-ratelimit-reset-tokens': '' },
    { 'x-ratelimit-limit-tokens': '9', 'x-ratelimit-remaining-tokens': '1', 'x-ratelimit-reset-tokens': 'soon' },
  ])('ignores incomplete and malformed fields (%#)', (headers) => {
    expect(readQuota(headers, nowMs)).toBeUndefined();
  });
});
