import { describe, expect, it } from 'vitest';
import type { Relayed } from '#contract/messages/dialect.ts';
import { toReplyHeaders } from './message-reply.ts';

const nowEpochMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const ownHeaders = { 'request-id': 'ours', 'x-request-id': 'ours' };
const relayed = (headers?: Record<string, string>): Relayed => ({
  ...{ dialect: 'messages', isCompleteReply: true, isLast: true, textBytes: 0, usage: undefined },
  ...(headers && { headers }),
});

function buildReplyHeaders(
  native: Relayed | undefined,
  context: { headers?: Record<string, string>; ignored?: readonly string[] } = {},
) {
  return toReplyHeaders(native, { headers: ownHeaders, ignored: [], nowEpochMs, ...context });
}

describe('toReplyHeaders', () => {
  it('returns the headers of every response if no other headers are needed', () => {
    expect([buildReplyHeaders(undefined), buildReplyHeaders(relayed())]).toEqual([ownHeaders, ownHeaders]);
  });

  it('adds the headers of the upstream, including its request ID, to a relayed reply', () => {
    const headers = { 'request-id': 'req_1', 'anthropic-ratelimit-requests-remaining': '9' };
    expect(buildReplyHeaders(relayed(headers), { ignored: ['top_k'] })).toEqual({
      ...ownHeaders,
      ...headers,
      'parley-ignored': 'top_k',
    });
  });

  it('includes only the limits of a caller that has limits, under both names', () => {
    const limits = {
      'x-ratelimit-limit-requests': '4',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-reset-requests': '30s',
      'x-ratelimit-limit-tokens': '10',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '25h1m2s',
    };
    const upstreamLimits = { 'anthropic-ratelimit-requests-limit': '1000', 'anthropic-ratelimit-unified-status': 'allowed' };
    expect(buildReplyHeaders(relayed(upstreamLimits), { headers: limits })).toEqual({
      ...limits,
      'anthropic-ratelimit-requests-limit': '4',
      'anthropic-ratelimit-requests-remaining': '3',
      'anthropic-ratelimit-requests-reset': '2026-01-02T03:04:35.000Z',
      'anthropic-ratelimit-tokens-limit': '10',
      'anthropic-ratelimit-tokens-remaining': '0',
      'anthropic-ratelimit-tokens-reset': '2026-01-03T04:05:07.000Z',
    });
  });

  it.each([
    [['top_k', 'thinking.display'], 'top_k, thinking.display'],
    [['a\r\nb: c', 'ü', '\ud800', 'x'.repeat(100)], `a%0D%0Ab%3A%20c, %C3%BC, %EF%BF%BD, ${'x'.repeat(64)}`],
    [Array.from({ length: 40 }, (_, n) => `f${n}`), expect.stringMatching(/^f0, f1, .*, f31, and 8 more$/)],
  ])('lists the fields that the translation omitted: %j', (ignored, value) => {
    expect(buildReplyHeaders(undefined, { ignored })).toEqual({ ...ownHeaders, 'parley-ignored': value });
  });
});
