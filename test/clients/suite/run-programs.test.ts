import { describe, expect, it } from 'vitest';
import { toMark } from './cells.ts';
import { checkAgainst, toOutcomes } from './run-programs.ts';

const reportedOutcome = { client: 'c', deployment: 'gpt', cell: 'whole', ok: true, seen: '' } as const;
const ran = { code: 1, stdout: `noise\n${JSON.stringify(reportedOutcome)}\n`, stderr: 'it fell' };

function createUpstream(body: string, isCanceled: boolean) {
  return { exchangesWith: (text: string) => (body.includes(text) ? [{ body, isCanceled }] : []) };
}

describe('program of the suite', () => {
  it('has a red cell for each cell without a report, except cells that its client cannot run', () => {
    const outcomes = toOutcomes({ name: 'p', runtime: 'go', clients: { c: { cancel: 'no streams' } } }, ran);
    expect(outcomes.filter(({ ok }) => ok)).toEqual([reportedOutcome]);
    expect(outcomes).toHaveLength(4 * 8);
    expect(outcomes.at(-1)).toMatchObject({ ok: false, seen: expect.stringContaining('it fell') });
  });

  it('has a green cell only if a request reached the upstream', () => {
    expect(checkAgainst(createUpstream('', false), reportedOutcome).ok).toBe(false);
    expect(checkAgainst(createUpstream(toMark(reportedOutcome), false), reportedOutcome).ok).toBe(true);
  });

  it('has a green cancel cell only if the upstream request was canceled', () => {
    const cancel = { ...reportedOutcome, cell: 'cancel' } as const;
    expect(checkAgainst(createUpstream(toMark(cancel), false), cancel).ok).toBe(false);
    expect(checkAgainst(createUpstream(toMark(cancel), true), cancel).ok).toBe(true);
  });

  it.each(['image', 'structured'] as const)('has a green %s cell only if the upstream received its data', (cell) => {
    const outcome = { ...reportedOutcome, cell };
    expect(checkAgainst(createUpstream(toMark(outcome), false), outcome).ok).toBe(false);
  });
});
