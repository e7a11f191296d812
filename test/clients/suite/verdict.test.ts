import { describe, expect, it } from 'vitest';
import type { Outcome } from './cells.ts';
import type { KnownFailure } from './known-failures.ts';
import { findFaults } from './verdict.ts';

const good: Outcome = { client: 'c', deployment: 'gpt', cell: 'whole', ok: true, seen: '' };
const red: Outcome = { ...good, deployment: 'quick', cell: 'tools', ok: false, seen: 'nothing came' };
const known: KnownFailure = { deployments: ['quick'], cells: ['tools'], why: 'it takes none' };

describe('the suite of clients', () => {
  it('fails on a red cell that nobody reviewed, with what the client saw', () => {
    expect(findFaults([good, red], [])).toEqual(['(c/quick/tools) nothing came']);
    expect(findFaults([red], [{ ...known, clients: ['another'] }])).toContain('(c/quick/tools) nothing came');
  });

  it('bears a red cell that was reviewed', () => {
    expect(findFaults([good, red], [known])).toEqual([]);
  });

  it('fails on a reviewed reason for which no cell is red any more', () => {
    expect(findFaults([good, { ...red, ok: true }], [known])).toEqual([expect.stringContaining('it takes none')]);
  });
});
