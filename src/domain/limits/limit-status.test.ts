import { describe, expect, it } from 'vitest';
import { countRequest, type LimitStatus, toLimitError, toLimitHeaders } from './limit-status.ts';
import { costWindows, deploymentWindows, type Window } from './windows.ts';

const nowMs = Date.parse('2026-07-15T10:20:30.400Z');

function status(window: Window, used: number, total: number, resetsInMs = 29_600): LimitStatus {
  const limit = { window, total, isOverall: window.kind === 'cost' };
  return { limit, used, reserved: 0, resetsAtMs: nowMs + resetsInMs };
}

const { minute, day, requestMinute, requestHour } = deploymentWindows;

describe('toLimitError', () => {
  it('returns undefined if all limits have capacity', () => {
    expect(toLimitError([status(minute, 9, 10), status(requestMinute, 0, 1)], 'm', nowMs)).toBeUndefined();
    expect(toLimitError([], 'm', nowMs)).toBeUndefined();
  });

  it('reports the reservation and suggests a retry soon if only calls in progress block the call', () => {
    const heldUp = { ...status(minute, 40, 100), reserved: 60 };
    const { code, message, retryAfterSeconds, headers } = toLimitError([heldUp], 'm', nowMs) ?? expect.unreachable();
    expect([code, retryAfterSeconds, headers?.['x-ratelimit-remaining-tokens']]).toEqual(['token_limit_exceeded', 1, '0']);
    expect(message).toBe(
      'Your limit of 100 tokens per minute on m is reserved for your calls in progress (40 of 100 used, 60 reserved). Try again when they end. The limit resets in 30s, at 2026-07-15T10:21:00Z.',
    );
    expect(toLimitError([heldUp, status(day, 5, 5)], 'm', nowMs)?.message).toContain('per day on m is used up (5 of 5)');
  });

  it.each([
    [
      status(minute, 1200, 1000),
      'token_limit_exceeded',
      'Your limit of 1000 tokens per minute on m is used up (1200 of 1000). It resets in 30s, at 2026-07-15T10:21:00Z.',
    ],
    [
      status(requestHour, 5, 5, 2_369_600),
      'request_limit_exceeded',
      'Your limit of 5 requests per hour on m is used up (5 of 5). It resets in 39m30s, at 2026-07-15T11:00:00Z.',
    ],
    [
      status(costWindows.day, 5_031_200_000, 5_000_000_000, 49_169_600),
      'cost_limit_exceeded',
      'Your limit of 5 USD per day is used up (5.0312 of 5). It resets in 13h39m30s, at 2026-07-16T00:00:00Z.',
    ],
  ] as const)('reports the window, the usage, and the time of the reset: %#', (used, code, message) => {
    const refusal = toLimitError([status(day, 1, 100), used], 'm', nowMs);
    expect(refusal).toMatchObject({ code, status: 429, message });
    expect(refusal?.retryAfterSeconds).toBe(Math.ceil((used.resetsAtMs - nowMs) / 1000));
  });

  it('reports the limit that resets last, so that a retry at that time succeeds', () => {
    const refusal = toLimitError([status(minute, 3, 1), status(day, 3, 2, 3_600_000), status(requestMinute, 1, 1)], 'm', nowMs);
    expect(refusal).toMatchObject({ code: 'token_limit_exceeded', retryAfterSeconds: 3600 });
  });

  it('suggests a delay of at least one second', () => {
    expect(toLimitError([status(minute, 1, 1, 3)], 'm', nowMs)?.retryAfterSeconds).toBe(1);
  });

  it('includes the header fields for the remaining limits', () => {
    expect(toLimitError([status(minute, 12, 10), status(requestMinute, 1, 4)], 'm', nowMs)?.headers).toEqual({
      'x-ratelimit-limit-requests': '4',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-reset-requests': '30s',
      'x-ratelimit-limit-tokens': '10',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '30s',
    });
  });
});

describe('toLimitHeaders', () => {
  it('selects the window with the least remaining quota, and the latest reset if several are equal', () => {
    const statuses = [status(minute, 0, 100), status(day, 950, 1000, 90_061_000), status(deploymentWindows.week, 0, 50, 60_000)];
    expect(toLimitHeaders(statuses, nowMs)).toEqual({
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '50',
      'x-ratelimit-reset-tokens': '25h1m1s',
    });
  });

  it('omits unlimited kinds and cost', () => {
    expect(toLimitHeaders([status(costWindows.day, 1, 2)], nowMs)).toEqual({});
  });

  it.each([
    [0, '0ms'],
    [0.2, '1ms'],
    [999, '999ms'],
    [1000, '1s'],
    [59_001, '1m0s'],
    [360_000, '6m0s'],
    [3_600_000, '1h0m0s'],
    [2_678_400_000, '744h0m0s'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(toLimitHeaders([status(minute, 0, 1, ms)], nowMs)['x-ratelimit-reset-tokens']).toBe(text);
  });

  it('includes the current request', () => {
    const after = countRequest([status(minute, 1, 9), status(requestMinute, 1, 9), status(costWindows.day, 1, 9)]);
    expect(after.map(({ used }) => used)).toEqual([1, 2, 1]);
  });
});
