import { describe, expect, test } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { describeError, redact } from './log.ts';

const quotedContent = 'Content filter: the prompt "my number is 123-45-6789" was flagged';

test.each([{ status: 400 }, {}])('omits the message of an upstream error with %j from the log', (fields) => {
  const upstreamError = new UpstreamError('refused', quotedContent, { code: quotedContent, ...fields });
  const described = describeError(new ParleyError('upstream_failed', quotedContent, { cause: upstreamError }), false);
  expect(JSON.stringify(described)).not.toContain('123-45');
  expect(JSON.stringify(describeError(upstreamError, true))).toContain('123-45');
});

test('logs the code of an upstream error and the messages of Parley', () => {
  const upstreamError = new UpstreamError('refused', quotedContent, { code: 'content_filter' });
  expect(describeError(upstreamError, false)).toMatchObject({ code: 'content_filter', kind: 'refused' });
  const closed = new UpstreamError('broken', 'The upstream ended its reply before it was complete.');
  expect(describeError(closed, false).message).toBe('The upstream ended its reply before it was complete.');
});

describe('redact', () => {
  test.each(['a.', 'eyJaaaa.', 'sk-', 'key=', 'bearer ', 'a://', 'a:b@', '"', 'token:'])(
    'is fast on a line that repeats %j',
    async (unit) => {
      const text = unit.repeat(1_000_000 / unit.length);
      expect(await measureEventLoopBlock(() => redact(text, []))).toBeLessThan(2_000);
    },
  );
});
