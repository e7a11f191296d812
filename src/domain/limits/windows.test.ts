import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { Calendar, periodEnds } from './windows.ts';

const at = (text: string): number => Date.parse(text);
const moment = fc.integer({ min: 0, max: at('2100-01-01T00:00:00Z') });
const periods = ['minute', 'hour', 'day', 'week', 'month'] as const;
const maxLengthMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000, month: 31 * 86_400_000 };

describe('periodEnds', () => {
  it.each([
    ['2026-07-15T10:20:30.400Z', '10:21:00', '11:00:00', '2026-07-16', '2026-07-20', '2026-08-01'],
    ['2024-02-28T23:59:59.999Z', '2024-02-29T00:00:00', '2024-02-29T00:00:00', '2024-02-29', '2024-03-04', '2024-03-01'],
    ['2026-12-31T00:00:00.000Z', '00:01:00', '01:00:00', '2027-01-01', '2027-01-04', '2027-01-01'],
    ['2026-01-05T00:00:00.000Z', '00:01:00', '01:00:00', '2026-01-06', '2026-01-12', '2026-02-01'],
  ])('returns the ends of the periods of %s', (now, minute, hour, day, week, month) => {
    const full = (end: string): string => (end.length === 8 ? `${now.slice(0, 11)}${end}Z` : end.length === 10 ? end : `${end}Z`);
    const ends = Object.values(periodEnds(at(now)));
    expect(ends).toEqual([minute, hour, day, week, month].map((end) => at(full(end))));
  });

  it('returns ends after the moment, at most one period length later', () => {
    fc.assert(
      fc.property(moment, fc.constantFrom(...periods), (now, period) => {
        const end = periodEnds(now)[period];
        expect(end).toBeGreaterThan(now);
        expect(end - now).toBeLessThanOrEqual(maxLengthMs[period]);
      }),
    );
  });

  it('returns adjacent periods: an end belongs to the next period, and the moment before it does not', () => {
    fc.assert(
      fc.property(moment, fc.constantFrom(...periods), (now, period) => {
        const end = periodEnds(now)[period];
        expect(periodEnds(end - 1)[period]).toBe(end);
        expect(periodEnds(end)[period]).toBeGreaterThan(end);
      }),
    );
  });

  it('returns midnight, a Monday, and the first of a month', () => {
    fc.assert(
      fc.property(moment, (now) => {
        const { day, week, month } = periodEnds(now);
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
          expect(calendar.endsAt(now)).toEqual(periodEnds(now));
        }
      }),
    );
  });
});
