import { describe, expect, it } from 'vitest';
import { parseCsvCases } from './csv-cases.ts';

describe('parseCsvCases', () => {
  it('rejects a table with more rows than cases can be stored, before it reads them', () => {
    expect(() => parseCsvCases(`input\n${'a\n'.repeat(1_001)}`)).toThrow('The table has more than 1000 rows.');
    expect(parseCsvCases(`input\n${'a\n'.repeat(1_000)}`)).toHaveLength(1_000);
  });

  it('rejects a table with more than 100 columns', () => {
    const table = (count: number) => `input${',contains'.repeat(count)}\na${',b'.repeat(count)}\n`;
    expect(() => parseCsvCases(table(100))).toThrow('The table has more than 100 columns.');
    expect(parseCsvCases(table(99))[0]?.checks).toHaveLength(99);
  });
});
