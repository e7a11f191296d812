import { expect, test } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { describeError } from './log.ts';

const quote = 'Content filter: the prompt "my number is 123-45-6789" was flagged';

test.each([{ status: 400 }, {}])('the words of an upstream that refuses are no part of the log, with %j', (facts) => {
  const fault = new UpstreamFault('refused', quote, { code: quote, ...facts });
  const described = describeError(new ParleyError('upstream_failed', quote, { cause: fault }), false);
  expect(JSON.stringify(described)).not.toContain('123-45');
  expect(JSON.stringify(describeError(fault, true))).toContain('123-45');
});

test('a code of an upstream is, and so are our own words', () => {
  const fault = new UpstreamFault('refused', quote, { code: 'content_filter' });
  expect(describeError(fault, false)).toMatchObject({ code: 'content_filter', kind: 'refused' });
  const closed = new UpstreamFault('broken', 'The upstream closed its answer before the end.');
  expect(describeError(closed, false).message).toBe('The upstream closed its answer before the end.');
});
