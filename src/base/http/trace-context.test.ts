import { randomFillSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { normalizeTracestate, parseTraceparent, TraceIds, toTraceparent } from './trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('parseTraceparent', () => {
  test('reads version 00, and toTraceparent writes it back', () => {
    const place = parseTraceparent(`00-${traceId}-${spanId}-01`);
    expect(place).toEqual({ traceId, spanId, isSampled: true });
    expect(place && toTraceparent(place)).toBe(`00-${traceId}-${spanId}-01`);
  });

  test('returns `isSampled` false without the sampled flag', () => {
    expect(parseTraceparent(`00-${traceId}-${spanId}-02`)?.isSampled).toBe(false);
  });

  test('reads a later version with extra fields at its end', () => {
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
  ])('returns undefined for an invalid header: %j', (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});

describe('normalizeTracestate', () => {
  test('keeps the order and removes blank members', () => {
    expect(normalizeTracestate('rojo=00f067aa0ba902b7, ,tenant@sys=t61rcWkgMzE')).toBe(
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
  ])('returns undefined for an invalid or too large header: %j', (header) => {
    expect(normalizeTracestate(header)).toBeUndefined();
  });
});

describe('TraceIds', () => {
  test('returns unique hexadecimal ids of the correct length', () => {
    const ids = new TraceIds((bytes) => void randomFillSync(bytes));
    const traceIds = Array.from({ length: 2_000 }, () => ids.createRoot().traceId);
    expect(traceIds.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
    expect(new Set(traceIds).size).toBe(2_000);
    expect(ids.createSpanId()).toMatch(/^[0-9a-f]{16}$/);
  });

  test('never returns an id of zeros', () => {
    let draws = 0;
    const ids = new TraceIds((bytes) => {
      draws += 1;
      bytes.fill(draws === 1 ? 0 : 7);
    });
    expect(ids.createSpanId()).toBe('07'.repeat(8));
  });
});
