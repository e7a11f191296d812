import { describe, expect, it } from 'vitest';
import { toMark } from './cells.ts';
import { checkedAgainst, toOutcomes } from './run-programs.ts';

const told = { client: 'c', deployment: 'gpt', cell: 'whole', ok: true, seen: '' } as const;
const ran = { code: 1, stdout: `noise\n${JSON.stringify(told)}\n`, stderr: 'it fell' };

function upstreamOf(body: string, wasLeft: boolean) {
  return { exchangesWith: (text: string) => (body.includes(text) ? [{ body, wasLeft }] : []) };
}

describe('a program of the suite', () => {
  it('has a red cell for each that it told nothing of, but those its client has not', () => {
    const outcomes = toOutcomes({ name: 'p', runtime: 'go', clients: { c: { cancel: 'no streams' } } }, ran);
    expect(outcomes.filter(({ ok }) => ok)).toEqual([told]);
    expect(outcomes).toHaveLength(4 * 8);
    expect(outcomes.at(-1)).toMatchObject({ ok: false, seen: expect.stringContaining('it fell') });
  });

  it('cannot have a green cell of which nothing reached the upstream', () => {
    expect(checkedAgainst(upstreamOf('', false), told).ok).toBe(false);
    expect(checkedAgainst(upstreamOf(toMark(told), false), told).ok).toBe(true);
  });

  it('has a green cancel only if the upstream was left', () => {
    const cancel = { ...told, cell: 'cancel' } as const;
    expect(checkedAgainst(upstreamOf(toMark(cancel), false), cancel).ok).toBe(false);
    expect(checkedAgainst(upstreamOf(toMark(cancel), true), cancel).ok).toBe(true);
  });

  it.each(['image', 'structured'] as const)('has a green %s only if what it is about reached the upstream', (cell) => {
    const outcome = { ...told, cell };
    expect(checkedAgainst(upstreamOf(toMark(outcome), false), outcome).ok).toBe(false);
  });
});
