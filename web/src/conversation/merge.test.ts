import { describe, expect, it } from 'vitest';
import type { Conversation, Turn } from './conversation.ts';
import { areFieldsUnsent, getSharedFields, listUnsentTurns, markTurns, mergeConversations } from './merge.ts';

const turn = (id: string, state = 'done'): Turn =>
  ({ kind: 'reply', id, parent: '', atMs: 1, text: state, state }) as unknown as Turn;
const conversation = (title: string, ...turns: Turn[]): Conversation => ({
  ...{ id: 'c', title, deployment: 'demo', createdAtMs: 1, updatedAtMs: 1, shown: {} },
  turns: Object.fromEntries(turns.map((each) => [each.id, each])),
});

describe('mergeConversations', () => {
  it('keeps the turns of both and prefers complete ones', () => {
    const both = mergeConversations(
      conversation('A', turn('a'), turn('b', 'running')),
      conversation('A', turn('b'), turn('c')),
      undefined,
    );
    expect(Object.values(both.turns).map(({ id, text }) => `${id} ${text}`)).toEqual(['a done', 'b done', 'c done']);
  });

  it('keeps the last change of each field and prefers local changes', () => {
    const base = getSharedFields(conversation('A'));
    const other = { ...conversation('A'), deployment: 'elsewhere', shown: { q: 'r' } };
    const both = mergeConversations({ ...conversation('Own'), shown: { p: 'q' } }, other, base);
    expect(both).toMatchObject({ title: 'Own', deployment: 'elsewhere', shown: { p: 'q', q: 'r' } });
  });

  it('prefers the complete answer of another device to an answer that this device lost', () => {
    const lost = { ...turn('a', 'interrupted'), isLost: true } as Turn;
    expect(mergeConversations(conversation('A', lost), conversation('A', turn('a')), undefined).turns.a).toEqual(turn('a'));
    expect(mergeConversations(conversation('A', turn('a')), conversation('A', turn('a', 'running')), undefined).turns.a).toEqual(
      turn('a'),
    );
  });
});

describe('listUnsentTurns', () => {
  it('returns only complete turns that were not sent', () => {
    const own = conversation('A', turn('a'), turn('b'), turn('c', 'running'));
    const mark = { id: 'c', revision: 1, turns: ['a'], fields: getSharedFields(own) };
    expect(listUnsentTurns(own, mark).map(({ id }) => id)).toEqual(['b']);
    expect([areFieldsUnsent(own, mark), areFieldsUnsent(own, undefined)]).toEqual([false, true]);
    expect(areFieldsUnsent({ ...own, title: 'B' }, mark)).toBe(true);
  });

  it('returns an answer that the service continues when it starts and when it ends', () => {
    const run = { ...turn('a', 'running'), isRun: true } as Turn;
    const started = conversation('A', run);
    expect(listUnsentTurns(started, undefined)).toEqual([run]);
    const mark = { id: 'c', revision: 1, ...markTurns(undefined, [run]), fields: getSharedFields(started) };
    expect(mark).toMatchObject({ turns: [], running: ['a'] });
    expect(listUnsentTurns(started, mark)).toEqual([]);
    const ended = conversation('A', turn('a'));
    expect(listUnsentTurns(ended, mark)).toEqual([turn('a')]);
    expect(listUnsentTurns(ended, { ...mark, ...markTurns(mark, [turn('a')]) })).toEqual([]);
  });
});
