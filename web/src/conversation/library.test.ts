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
function createDatabase(kept: { now: Conversation }): Database {
  return {
    ...createMemoryDatabase(),
    listSummaries: async () => [toSummary(kept.now)],
    readConversation: async () => kept.now,
    // Never resolves, like a slow disk.
    write: () => new Promise(() => undefined),
    remove: async () => undefined,
  };
}

describe('Library search', () => {
  it('finds the name of an attached file at the start and far into a long chat', async () => {
    const attachments = [{ type: 'text/plain', title: 'Haystack.txt', data: 'x' }];
    for (const length of [1, 30_000]) {
      const turn: Turn = { ...question('r', 'Read it', 'q'), attachments } as Turn;
      const library = new Library(createDatabase({ now: conversation(question('q', 'x'.repeat(length)), turn) }));
      await library.load();
      expect(await found(library, 'haystack.txt')).toEqual(['c']);
    }
  });

  it('finds text far into a long chat', async () => {
    const library = new Library(
      createDatabase({ now: conversation(question('q', 'x '.repeat(15_000)), question('r', 'The Needle')) }),
    );
    await library.load();
    expect(await found(library, 'needle')).toEqual(['c']);
    expect(await found(library, 'needle haystack')).toEqual([]);
  });
});

/** A library with a trigger for changes of another tab, which resolves after the change is applied. */
function openLibrary(kept: { now: Conversation }) {
  let hear: (id: string) => void = () => undefined;
  const calls = { closed: 0 };
  const library = new Library(createDatabase(kept), {
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
    const { library, change } = openLibrary({ now: conversation(question('q', 'one')) });
    await library.load();
    library.put({ ...conversation(question('n', 'new')), id: 'n', updatedAtMs: 2 });
    await change();
    expect(library.getSummaries().map(({ id }) => id)).toEqual(['n', 'c']);
    library.saveAll();
    await change();
    expect(library.getSummaries().map(({ id }) => id)).toEqual(['n', 'c']);
  });

  it('are applied until the user signs out', () => {
    const { library, calls } = openLibrary({ now: conversation() });
    library.close();
    expect(calls.closed).toBe(1);
  });

  it('add finished turns but not unfinished ones', async () => {
    const kept = { now: conversation(question('q', 'one')) };
    const { library, change } = openLibrary(kept);
    await library.load();
    await library.open('c');
    const coming = { kind: 'reply', state: 'running', id: 'r', parent: 'p', text: '' } as Turn;
    kept.now = conversation(question('q', 'one'), question('p', 'two', 'q'), coming);
    await change();
    expect(Object.keys(library.find('c')?.turns ?? {})).toEqual(['q', 'p']);
    expect(library.find('c')?.shown).toEqual({ q: 'p' });
  });

  it('follow answers that the service continues until they are complete here or in the other tab', async () => {
    const run = { kind: 'reply', state: 'running', id: 'r', parent: 'q', text: '', isRun: true } as Turn;
    const kept = { now: conversation(question('q', 'one'), run) };
    const { library, change } = openLibrary(kept);
    const resumed: string[] = [];
    const left: string[] = [];
    const own = new Set<string>();
    library.connectRuns({
      resume: (_conversation, { id }) => void resumed.push(id),
      hasStarted: (id) => own.has(id),
      stopFollowing: (id) => void left.push(id),
    });
    await library.load();
    await library.open('c');
    expect([library.find('c')?.turns.r, resumed]).toEqual([run, ['r']]);
    const done = { kind: 'reply', state: 'done', id: 'r', parent: 'q', text: 'two' } as Turn;
    own.add('r');
    kept.now = conversation(question('q', 'one'), done);
    await change();
    expect([library.find('c')?.turns.r, left]).toEqual([run, []]);
    own.clear();
    await change();
    expect([library.find('c')?.turns.r, left]).toEqual([done, ['r']]);
    const next = { ...run, id: 's', parent: 'r' } as Turn;
    kept.now = conversation(question('q', 'one'), done, next);
    await change();
    expect([library.find('c')?.turns.s, resumed.at(-1)]).toEqual([next, 's']);
  });
});
