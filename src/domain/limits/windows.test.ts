import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import {
  Calendar,
  type CompleteReset,
  completeReset,
  computePeriodEnds,
  costWindows,
  parseWindowName,
  withReset,
} from './windows.ts';

const at = (text: string): number => Date.parse(text);
const moment = fc.integer({ min: 0, max: at('2100-01-01T00:00:00Z') });
const periods = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const;
const maxLengthMs = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 31 * 86_400_000,
  year: 366 * 86_400_000,
};

describe('computePeriodEnds', () => {
  it.each([
    ['2026-07-15T10:20:30.400Z', '10:21:00', '11:00:00', '2026-07-16', '2026-07-20', '2026-08-01', '2027-01-01'],
    [
      '2024-02-28T23:59:59.999Z',
      '2024-02-29T00:00:00',
      '2024-02-29T00:00:00',
      '2024-02-29',
      '2024-03-04',
      '2024-03-01',
      '2025-01-01',
    ],
    ['2026-12-31T00:00:00.000Z', '00:01:00', '01:00:00', '2027-01-01', '2027-01-04', '2027-01-01', '2027-01-01'],
    ['2026-01-05T00:00:00.000Z', '00:01:00', '01:00:00', '2026-01-06', '2026-01-12', '2026-02-01', '2027-01-01'],
  ])('returns the ends of the periods of %s', (now, minute, hour, day, week, month, year) => {
    const full = (end: string): string => (end.length === 8 ? `${now.slice(0, 11)}${end}Z` : end.length === 10 ? end : `${end}Z`);
    const [minuteEnd, hourEnd, dayEnd, weekEnd, monthEnd, yearEnd] = [minute, hour, day, week, month, year].map((end) =>
      at(full(end)),
    );
    const ends = { minute: minuteEnd, hour: hourEnd, day: dayEnd, week: weekEnd, month: monthEnd, year: yearEnd };
    expect(computePeriodEnds(at(now))).toEqual({ ...ends, parallel: Number.MAX_SAFE_INTEGER });
  });

  it('returns ends after the moment, at most one period length later', () => {
    fc.assert(
      fc.property(moment, fc.constantFrom(...periods), (now, period) => {
        const end = computePeriodEnds(now)[period];
        expect(end).toBeGreaterThan(now);
        expect(end - now).toBeLessThanOrEqual(maxLengthMs[period]);
      }),
    );
  });

  it('returns adjacent periods: an end belongs to the next period, and the moment before it does not', () => {
    fc.assert(
      fc.property(moment, fc.constantFrom(...periods), (now, period) => {
        const end = computePeriodEnds(now)[period];
        expect(computePeriodEnds(end - 1)[period]).toBe(end);
        expect(computePeriodEnds(end)[period]).toBeGreaterThan(end);
      }),
    );
  });

  it('returns midnight, a Monday, and the first of a month', () => {
    fc.assert(
      fc.property(moment, (now) => {
        const { day, week, month } = computePeriodEnds(now);
        expect(new Date(day).toISOString()).toMatch(/T00:00:00\.000Z$/);
        expect(new Date(week).getUTCDay()).toBe(1);
        expect(new Date(week).toISOString()).toMatch(/T00:00:00\.000Z$/);
        expect(new Date(month).toISOString()).toMatch(/-01T00:00:00\.000Z$/);
      }),
    );
  });

  it('returns the same ends as a Calendar, even if the clock moves backward', () => {
    fc.assert(
      fc.property(moment, fc.array(fc.integer({ min: -200_000, max: 200_000 }), { maxLength: 30 }), (start, steps) => {
        const calendar = new Calendar();
        let now = start + 10_000_000;
        for (const step of steps) {
          now += step;
          expect(calendar.getEnds(now)).toEqual(computePeriodEnds(now));
        }
      }),
    );
  });
});

const toReset = (timeZone: string, dayOfMonth = 1, month = 1): CompleteReset => ({ dayOfMonth, month, timeZone });

describe('computePeriodEnds with a reset', () => {
  it.each([
    // Summer time starts on 2026-03-29 and ends on 2026-10-25 in Zurich.
    ['2026-03-28T22:59:59.999Z', toReset('Europe/Zurich'), '2026-03-28T23:00Z', '2026-03-29T22:00Z', '2026-03-31T22:00Z'],
    ['2026-03-29T12:00:00Z', toReset('Europe/Zurich'), '2026-03-29T22:00Z', '2026-03-29T22:00Z', '2026-03-31T22:00Z'],
    ['2026-10-25T00:30:00Z', toReset('Europe/Zurich', 31), '2026-10-25T23:00Z', '2026-10-25T23:00Z', '2026-10-30T23:00Z'],
    ['2026-07-15T03:59:00Z', toReset('America/New_York', 15), '2026-07-15T04:00Z', '2026-07-20T04:00Z', '2026-07-15T04:00Z'],
    ['2026-07-15T04:00:00Z', toReset('America/New_York', 15), '2026-07-16T04:00Z', '2026-07-20T04:00Z', '2026-08-15T04:00Z'],
    // The day starts at 01:00, because summer time skips midnight.
    ['2026-04-23T12:00:00Z', toReset('Africa/Cairo', 24), '2026-04-23T22:00Z', '2026-04-26T21:00Z', '2026-04-23T22:00Z'],
    // Samoa skipped 2011-12-30.
    ['2011-12-30T09:00:00Z', toReset('Pacific/Apia', 30), '2011-12-30T10:00Z', '2012-01-01T10:00Z', '2011-12-30T10:00Z'],
    ['2026-07-15T00:00:00Z', toReset('Asia/Kathmandu'), '2026-07-15T18:15Z', '2026-07-19T18:15Z', '2026-07-31T18:15Z'],
  ])('returns the local day, week, and month of %s with %o', (now, reset, day, week, month) => {
    const ends = computePeriodEnds(at(now), reset);
    expect([ends.day, ends.week, ends.month].map((end) => new Date(end).toISOString().replace(':00.000Z', 'Z'))).toEqual([
      day,
      week,
      month,
    ]);
  });

  it.each([
    ['2026-01-30T12:00:00Z', 31, '2026-01-31'],
    ['2026-01-31T00:00:00Z', 31, '2026-02-28'],
    ['2028-01-31T00:00:00Z', 30, '2028-02-29'],
    ['2026-02-28T00:00:00Z', 31, '2026-03-31'],
    ['2026-04-30T00:00:00Z', 31, '2026-05-31'],
  ])('starts short months on their last day: after %s with day %i, %s', (now, day, end) => {
    expect(new Date(computePeriodEnds(at(now), toReset('UTC', day)).month).toISOString().slice(0, 10)).toBe(end);
  });

  it.each([
    ['2026-03-31T23:59:59Z', toReset('UTC', 1, 4), '2026-04-01'],
    ['2026-04-01T00:00:00Z', toReset('UTC', 1, 4), '2027-04-01'],
    ['2027-03-01T00:00:00Z', toReset('UTC', 29, 2), '2028-02-29'],
    ['2026-02-28T00:00:00Z', toReset('UTC', 29, 2), '2027-02-28'],
  ])('starts years in their month: after %s with %o, %s', (now, reset, end) => {
    expect(new Date(computePeriodEnds(at(now), reset).year).toISOString().slice(0, 10)).toBe(end);
  });

  it('returns adjacent periods in any time zone, on any day of the month', () => {
    const zones = fc.constantFrom(
      'Europe/Zurich',
      'America/Sao_Paulo',
      'Africa/Cairo',
      'Pacific/Apia',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
    );
    const reset = fc.record({
      timeZone: zones,
      dayOfMonth: fc.integer({ min: 1, max: 31 }),
      month: fc.integer({ min: 1, max: 12 }),
    });
    const recent = fc.integer({ min: at('1990-01-01T00:00:00Z'), max: at('2100-01-01T00:00:00Z') });
    fc.assert(
      fc.property(recent, reset, fc.constantFrom(...periods), (now, rule, period) => {
        const end = computePeriodEnds(now, rule)[period];
        expect(end).toBeGreaterThan(now);
        expect(computePeriodEnds(end - 1, rule)[period]).toBe(end);
        expect(computePeriodEnds(end, rule)[period]).toBeGreaterThan(end);
        expect(new Calendar(rule).getEnds(now)).toEqual(computePeriodEnds(now, rule));
      }),
      { numRuns: 200 },
    );
  });
});

describe('parseWindowName', () => {
  it('returns the window with its calendar', () => {
    const reset = completeReset({ dayOfMonth: 15, timeZone: 'America/Argentina/Ushuaia' });
    for (const window of [costWindows.month, withReset(costWindows.month, reset)])
      expect(parseWindowName(window.name)).toEqual(window);
    expect(completeReset({ timeZone: 'UTC' })).toBeUndefined();
  });

  it('returns undefined for windows of other versions', () => {
    expect(parseWindowName('cost/decade')).toBeUndefined();
    expect(parseWindowName('cost/month/1/1/Mars/Olympus')).toBeUndefined();
  });
});
