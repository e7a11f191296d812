import { describe, expect, it } from 'vitest';
import { usageGerman } from '../locales/de/usage.ts';
import { usageEnglish } from '../locales/en/usage.ts';
import { formatTimeUntil, formatUsd } from '../strings/formats.ts';
import { toCsv } from './csv-button.tsx';
import { getLastDays, getThisMonth, listDays } from './day-range.tsx';
import { computeAxisStep } from './measure.ts';
import type { UsageRow } from './read-usage.ts';

const row: UsageRow = {
  ...{ day: '2026-03-01', deployment: 'model', user: 'ada', project: '' },
  ...{ calls: 2, failedCalls: 1, refusedCalls: 1, promptTokens: 10, completionTokens: 5, cost: 0.1 + 0.2 },
};

describe('getLastDays and getThisMonth', () => {
  it('return ranges that end with today in UTC', () => {
    expect(getLastDays(1, Date.parse('2026-03-01T23:59:59Z'))).toEqual({ from: '2026-03-01', to: '2026-03-01' });
    expect(getThisMonth(Date.parse('2026-11-25T12:00:00Z'))).toEqual({ from: '2026-11-01', to: '2026-11-25' });
    expect(getLastDays(30, Date.parse('2024-03-01T00:00:00Z'))).toEqual({ from: '2024-02-01', to: '2024-03-01' });
  });
});

describe('listDays', () => {
  it('returns all days of a valid range, and no days otherwise', () => {
    expect(listDays({ from: '2024-02-28', to: '2024-03-01' })).toEqual(['2024-02-28', '2024-02-29', '2024-03-01']);
    expect(listDays({ from: '2025-01-01', to: '2026-01-01' })).toHaveLength(366);
    for (const [from, to] of [
      ['2026-03-02', '2026-03-01'],
      ['2024-01-01', '2026-01-01'],
      ['', '2026-01-01'],
    ] as const)
      expect(listDays({ from, to })).toEqual([]);
  });
});

describe('toCsv', () => {
  const getName = () => 'The Model';

  it('writes a header row, and a user column only for the usage of all users', () => {
    const columns = 'calls,failed_calls,refused_calls,prompt_tokens,completion_tokens,cost_usd\r\n';
    expect(toCsv([row], getName, true)).toBe(
      `day,deployment_name,deployment,user,${columns}2026-03-01,The Model,model,ada,2,1,1,10,5,0.3\r\n`,
    );
    expect(toCsv([row], getName, false)).toBe(
      `day,deployment_name,deployment,${columns}2026-03-01,The Model,model,2,1,1,10,5,0.3\r\n`,
    );
  });

  it('escapes the names of deployments', () => {
    const cells = toCsv([row], () => '=A,B', false).split('\r\n')[1];
    expect(cells).toBe(`2026-03-01,"'=A,B",model,2,1,1,10,5,0.3`);
  });

  it.each([
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['=HYPERLINK("https://x")', `"'=HYPERLINK(""https://x"")"`],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tcmd', "'\tcmd"],
  ])('escapes %j', (user, cell) => {
    expect(toCsv([{ ...row, user }], getName, true).split('\r\n')[1]).toBe(`2026-03-01,The Model,model,${cell},2,1,1,10,5,0.3`);
  });
});

describe('formatUsd', () => {
  it('formats cents, or significant digits below 10 cents', () => {
    const money = [0, 1234.5, 0.1, 0.075, 0.0042, 0.00069].map((usd) => formatUsd(usd, 'en-GB'));
    expect(money).toEqual(['$0.00', '$1,234.50', '$0.10', '$0.075', '$0.0042', '$0.00069']);
  });
});

describe('computeAxisStep', () => {
  it.each([
    [0, true, 1],
    [3, true, 1],
    [4, true, 1],
    [437, true, 200],
    [0.44, false, 0.2],
    [1_000_000, true, 500_000],
  ])('returns a round step for values up to %d', (highest, isInteger, step) => {
    expect(computeAxisStep(highest, isInteger)).toBeCloseTo(step, 9);
  });
});

describe('formatTimeUntil', () => {
  it('rounds up', () => {
    const formatted = [0, 1, 59_001, 61_000, 3_600_001, 90_000_000].map((ms) => formatTimeUntil(ms, 0, 'en'));
    expect(formatted).toEqual(['in 0 seconds', 'in 1 second', 'in 1 minute', 'in 2 minutes', 'in 2 hours', 'in 2 days']);
    expect(formatTimeUntil(0, 5000, 'de')).toBe('in 0 Sekunden');
  });

  it.each([
    [59 * 60_000 + 1, 'in 1 hour'],
    [23 * 3_600_000 + 1, 'in 1 day'],
    [59 * 60_000, 'in 59 minutes'],
  ])('uses the next unit if rounding up reaches it: %d ms', (ms, formatted) => {
    expect(formatTimeUntil(ms, 0, 'en')).toBe(formatted);
  });
});

it('limitName names limits in English and German', () => {
  expect(usageEnglish.limitName('Token', 'minute')).toBe('tokens a minute');
  expect(usageEnglish.limitName('Cost', 'month')).toBe('USD a month');
  expect(usageGerman.limitName('Request', 'day')).toBe('Anfragen am Tag');
});
