import { describe, expect, it } from 'vitest';
import type { Conversation, Turn } from './conversation.ts';
import { addSyncedTurns, areFieldsUnsent, getSharedFields, listUnsentTurns, mergeConversations } from './merge.ts';

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
    const syncState = { id: 'c', revision: 1, turns: ['a'], fields: getSharedFields(own) };
    expect(listUnsentTurns(own, syncState).map(({ id }) => id)).toEqual(['b']);
    expect([areFieldsUnsent(own, syncState), areFieldsUnsent(own, undefined)]).toEqual([false, true]);
    expect(areFieldsUnsent({ ...own, title: 'B' }, syncState)).toBe(true);
  });

  it('returns an answer that the service continues when it starts and when it ends', () => {
    const run = { ...turn('a', 'running'), isRun: true } as Turn;
    const started = conversation('A', run);
    expect(listUnsentTurns(started, undefined)).toEqual([run]);
    const syncState = { id: 'c', revision: 1, ...addSyncedTurns(undefined, [run]), fields: getSharedFields(started) };
    expect(syncState).toMatchObject({ turns: [], running: ['a'] });
    expect(listUnsentTurns(started, syncState)).toEqual([]);
    const ended = conversation('A', turn('a'));
    expect(listUnsentTurns(ended, syncState)).toEqual([turn('a')]);
    expect(listUnsentTurns(ended, { ...syncState, ...addSyncedTurns(syncState, [turn('a')]) })).toEqual([]);
  });
});
