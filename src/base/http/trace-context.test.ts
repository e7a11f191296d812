import { randomFillSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { boundTracestate, parseTraceparent, TraceIds, toTraceparent } from './trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('a traceparent', () => {
  test('of version 00 is read and written back', () => {
    const place = parseTraceparent(`00-${traceId}-${spanId}-01`);
    expect(place).toEqual({ traceId, spanId, isSampled: true });
    expect(place && toTraceparent(place)).toBe(`00-${traceId}-${spanId}-01`);
  });

  test('without the flag of sampling is not sampled', () => {
    expect(parseTraceparent(`00-${traceId}-${spanId}-02`)?.isSampled).toBe(false);
  });

  test('of a later version is read with more at its end', () => {
    expect(parseTraceparent(`cc-${traceId}-${spanId}-01-what-else`)).toEqual({ traceId, spanId, isSampled: true });
  });

  test.each([
    undefined,
    '',
    'nonsense',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01 `,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-0x`,
    `cc-${traceId}-${spanId}-01.more`,
    `cc-${traceId}-${spanId}-01-${'x'.repeat(300)}`,
    `00-${traceId}-${spanId}-01\r\nx-evil: 1`,
  ])('that breaks the form is ignored: %j', (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});

describe('a tracestate', () => {
  test('is passed on in its order, without blank members', () => {
    expect(boundTracestate('rojo=00f067aa0ba902b7, ,tenant@sys=t61rcWkgMzE')).toBe(
      'rojo=00f067aa0ba902b7,tenant@sys=t61rcWkgMzE',
    );
  });

  test.each([
    undefined,
    '',
    ' , ',
    'novalue',
    'UPPER=1',
    'a=b=c',
    'a=1\r\nx-evil: 1',
    'a=ü',
    `a=${'x'.repeat(600)}`,
    Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(','),
  ])('that breaks the form or a bound is dropped: %j', (header) => {
    expect(boundTracestate(header)).toBeUndefined();
  });
});

describe('ids', () => {
  test('are hexadecimal, of the right length and all different', () => {
    const ids = new TraceIds((bytes) => void randomFillSync(bytes));
    const made = Array.from({ length: 2_000 }, () => ids.root().traceId);
    expect(made.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
    expect(new Set(made).size).toBe(2_000);
    expect(ids.spanId()).toMatch(/^[0-9a-f]{16}$/);
  });

  test('are never all zero', () => {
    let draws = 0;
    const ids = new TraceIds((bytes) => {
      draws += 1;
      bytes.fill(draws === 1 ? 0 : 7);
    });
    expect(ids.spanId()).toBe('07'.repeat(8));
  });
});
