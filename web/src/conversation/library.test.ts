import { describe, expect, it } from 'vitest';
import type { Conversation, Turn } from './conversation.ts';
import { createMemoryDatabase, type Database, toSummary } from './database.ts';
import { Library } from './library.ts';

const never = new AbortController().signal;

async function found(library: Library, query: string): Promise<readonly string[]> {
  const ids: string[] = [];
  await library.searchText(query, { signal: never, onMatches: (more) => void ids.push(...more.map(({ id }) => id)) });
  return ids;
}
const question = (id: string, text: string, parent = ''): Turn => ({
  ...{ kind: 'question', id, parent, atMs: 1, text, attachments: [] },
});
const conversation = (...turns: Turn[]): Conversation => ({
  ...{ id: 'c', title: 'Talk', deployment: 'demo', createdAtMs: 1, updatedAtMs: 1, shown: {} },
  turns: Object.fromEntries(turns.map((turn) => [turn.id, turn])),
});

/** Stores one chat. */
function databaseOf(kept: { now: Conversation }): Database {
  return {
    ...createMemoryDatabase(),
    listSummaries: async () => [toSummary(kept.now)],
    read: async () => kept.now,
    // Never resolves, like a slow disk.
    write: () => new Promise(() => undefined),
    remove: async () => undefined,
  };
}

describe('Library search', () => {
  it('finds text far into a long chat', async () => {
    const library = new Library(
      databaseOf({ now: conversation(question('q', 'x '.repeat(15_000)), question('r', 'The Needle')) }),
    );
    await library.load();
    expect(await found(library, 'needle')).toEqual(['c']);
    expect(await found(library, 'needle haystack')).toEqual([]);
  });
});

/** A library with a trigger for changes of another tab, which resolves after the change is applied. */
function libraryOf(kept: { now: Conversation }) {
  let hear: (id: string) => void = () => undefined;
  const calls = { closed: 0 };
  const library = new Library(databaseOf(kept), {
    notify: () => undefined,
    onChange(listener) {
      hear = listener;
    },
    close() {
      calls.closed += 1;
    },
  });
  const change = async (): Promise<void> => {
    const changed = new Promise<void>((resolve) => library.subscribe(resolve));
    hear('c');
    await changed;
  };
  return { library, calls, change };
}

describe('Library changes from another tab', () => {
  it('keep unsaved local changes', async () => {
    const { library, change } = libraryOf({ now: conversation(question('q', 'one')) });
    await library.load();
    library.put({ ...conversation(question('n', 'new')), id: 'n', updatedAtMs: 2 });
    await change();
    expect(library.getSummaries().map(({ id }) => id)).toEqual(['n', 'c']);
    library.saveAll();
    await change();
    expect(library.getSummaries().map(({ id }) => id)).toEqual(['n', 'c']);
  });

  it('are applied until the user signs out', () => {
    const { library, calls } = libraryOf({ now: conversation() });
    library.close();
    expect(calls.closed).toBe(1);
  });

  it('add finished turns but not unfinished ones', async () => {
    const kept = { now: conversation(question('q', 'one')) };
    const { library, change } = libraryOf(kept);
    await library.load();
    await library.open('c');
    const coming = { kind: 'reply', state: 'running', id: 'r', parent: 'p', text: '' } as Turn;
    kept.now = conversation(question('q', 'one'), question('p', 'two', 'q'), coming);
    await change();
    expect(Object.keys(library.find('c')?.turns ?? {})).toEqual(['q', 'p']);
    expect(library.find('c')?.shown).toEqual({ q: 'p' });
  });
});
