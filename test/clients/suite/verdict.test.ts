import { describe, expect, it } from 'vitest';
import type { Outcome } from './cells.ts';
import type { KnownFailure } from './known-failures.ts';
import { findErrors } from './verdict.ts';

const good: Outcome = { client: 'c', deployment: 'gpt', cell: 'whole', ok: true, seen: '' };
const red: Outcome = { ...good, deployment: 'quick', cell: 'tools', ok: false, seen: 'no reply came' };
const known: KnownFailure = { deployments: ['quick'], cells: ['tools'], why: 'it takes none' };

describe('client suite', () => {
  it('fails for a red cell that is not reviewed, and reports the client output', () => {
    expect(findErrors([good, red], [])).toEqual(['(c/quick/tools) no reply came']);
    expect(findErrors([red], [{ ...known, clients: ['another'] }])).toContain('(c/quick/tools) no reply came');
  });

  it('accepts a red cell that is reviewed', () => {
    expect(findErrors([good, red], [known])).toEqual([]);
  });

  it('fails for a reviewed reason without a red cell', () => {
    expect(findErrors([good, { ...red, ok: true }], [known])).toEqual([expect.stringContaining('it takes none')]);
  });
});
