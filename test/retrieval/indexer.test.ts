import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '#base/time/clock.ts';
import type { IndexedFile } from '#domain/files/file-index.ts';
import type { Lease, PassageIndex } from '#domain/tools/passage-index.ts';
import type { OpenDatabase, SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlPassageIndex } from '#stores/sql/passages/passage-index.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { type FreshDatabase, freshSqlite } from '#test/sql-engines.ts';
import { DocumentIndexer } from '../../src/tools/retrieval/indexing/document-indexer.ts';
import { defaultDocumentBounds } from '../../src/tools/retrieval/loading/load-document.ts';
import { LetterEmbedder, until } from './library.ts';

const text = 'A first paragraph.\n\nAnother one.';
/** Of more passages than are embedded in one step. */
const longText = Array.from({ length: 80 }, (_, nth) => `# Part ${nth}\n\nabc ${nth}`).join('\n\n');

let fresh: FreshDatabase;
let database: OpenDatabase;
let index: SqlPassageIndex;
let blobs: MemoryBlobs;
let faults: string[];
const opened: DocumentIndexer[] = [];

beforeEach(async () => {
  fresh = await freshSqlite();
  database = await fresh.open();
  index = new SqlPassageIndex(database.database);
  blobs = new MemoryBlobs();
  faults = [];
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((indexer) => indexer.close()));
  await database.close();
  await fresh[Symbol.asyncDispose]();
});

interface Given {
  readonly owner?: string;
  readonly index?: PassageIndex;
  readonly clock?: Clock;
  readonly maxBytes?: number;
}

function indexerOf({ owner = 'node', clock = systemClock, maxBytes = 100_000, ...given }: Given = {}): DocumentIndexer {
  const indexer = new DocumentIndexer({
    ...{ index: given.index ?? index, blobs, clock, owner },
    bounds: { ...defaultDocumentBounds, maxBytes },
    reportError: (message) => faults.push(message),
  });
  opened.push(indexer);
  return indexer;
}

/** Holds back one work's claims until `ended`: another node does the work before them. */
class LateClaims extends SqlPassageIndex {
  readonly claiming = Promise.withResolvers<void>();
  readonly ended = Promise.withResolvers<void>();
  /** After the last work, which makes the vectors. */
  readonly released = Promise.withResolvers<void>();
  readonly #work: string;

  constructor(database: SqlDatabase, work: string) {
    super(database);
    this.#work = work;
  }

  override async claim(lease: Lease): Promise<boolean> {
    if (lease.name.startsWith(this.#work)) {
      this.claiming.resolve();
      await this.ended.promise;
    }
    return super.claim(lease);
  }

  override async release(lease: Pick<Lease, 'name' | 'owner'>): Promise<void> {
    await super.release(lease);
    if (lease.name.startsWith('vectors')) this.released.resolve();
  }
}

function vectorsOf(document: string, embedder: LetterEmbedder): Promise<number> {
  return index.countVectors({ document, model: embedder.model });
}

async function read(indexer: DocumentIndexer, file: IndexedFile, embedder = new LetterEmbedder()) {
  return indexer.requestIndexing(file, embedder).done;
}

describe('a file', () => {
  it('can be searched by its words first, and by its vectors in the end', async () => {
    const embedder = new LetterEmbedder();
    const gate = Promise.withResolvers<void>();
    embedder.gate = gate.promise;
    const document = await read(indexerOf(), blobs.file('a.md', longText), embedder);
    expect(document).toMatchObject({ format: 'md', passages: 80, failure: undefined });
    expect(await index.searchWords('part 77', [document.id], 1)).toHaveLength(1);
    expect(await vectorsOf(document.id, embedder)).toBe(0);
    gate.resolve();
    await until(async () => (await vectorsOf(document.id, embedder)) === 80);
    expect(embedder.asked).toHaveLength(80);
    expect(embedder.asked[77]).toBe('Part 0 › Part 77\nabc 77');
  });

  it('is read once, however often and by however many it is asked for', async () => {
    const indexer = indexerOf();
    const file = blobs.file('a.txt', text);
    const embedder = new LetterEmbedder();
    const documents = await Promise.all([1, 2, 3].map(() => read(indexer, file, embedder)));
    expect(new Set(documents.map(({ id }) => id)).size).toBe(1);
    await until(async () => (await vectorsOf(documents[0]?.id ?? '', embedder)) === 1);
    await read(indexer, file, embedder);
    expect(blobs.reads).toHaveLength(1);
    expect(embedder.asked).toHaveLength(1);
  });

  it('of the same content as another is the same document, of another format it is not', async () => {
    const indexer = indexerOf();
    const embedder = new LetterEmbedder();
    const one = await read(indexer, blobs.file('a/one.md', longText), embedder);
    const same = await read(indexer, blobs.file('b/two.md', longText, 'another bucket'), embedder);
    const other = await read(indexer, blobs.file('c/two.txt', longText), embedder);
    expect(same).toEqual(one);
    expect(other.id).not.toBe(one.id);
    await until(async () => (await vectorsOf(one.id, embedder)) === 80);
    expect(embedder.asked.filter((asked) => asked.endsWith('abc 77'))).toHaveLength(1);
  });

  it('of the same content as another is read once, also where both are read at the same time', async () => {
    const indexer = indexerOf();
    const embedder = new LetterEmbedder();
    const [ahead, asked] = [blobs.file('one.md', longText), blobs.file('two.md', longText)];
    const readings = [indexer.requestIndexing(ahead, embedder, 'ahead'), indexer.requestIndexing(asked, embedder)];
    const [one, two] = await Promise.all(readings.map(({ done }) => done));
    expect(two).toEqual(one);
    expect(await index.read(one?.id ?? '', 0, 999)).toHaveLength(80);
    expect(faults).toEqual([]);
  });

  it('that cannot be read keeps the reason, and is not read again', async () => {
    const file = blobs.file('a.json', '{');
    const first = await read(indexerOf(), file);
    expect(first.failure).toContain('It is not JSON');
    expect(await read(indexerOf(), file)).toEqual(first);
    expect(blobs.reads).toHaveLength(1);
  });

  it('that is too large is not even fetched', async () => {
    const document = await read(indexerOf({ maxBytes: 2_000_000 }), blobs.file('a.txt', 'x'.repeat(3_000_000)));
    expect(document.failure).toBe('It has 2.9 MB; documents of up to 1.9 MB are read.');
    expect(blobs.reads).toEqual([]);
  });

  it('that is gone is told so, and looked for again later', async () => {
    const file = blobs.file('a.txt', text);
    blobs.contents.clear();
    expect(await read(indexerOf(), file)).toMatchObject({
      id: '',
      failure: 'It was deleted or replaced while it was to be read.',
    });
    expect(await index.findContent(file.blob)).toBeUndefined();
  });

  it('of another length than the index of files says is not read', async () => {
    const document = await read(indexerOf(), { ...blobs.file('a.txt', text), contentLength: 5 });
    expect(document.failure).toBe('It is longer than the index of files says.');
  });

  it('whose store fails is tried again when it is asked for again', async () => {
    let isAway = true;
    const shaky = new Proxy(index, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (name === 'find' && isAway) return () => Promise.reject(new Error('away'));
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const indexer = indexerOf({ index: shaky });
    const file = blobs.file('a.txt', text);
    await expect(read(indexer, file)).rejects.toThrow('away');
    expect(faults).toEqual(['Failed to read a document']);
    isAway = false;
    expect((await read(indexer, file)).passages).toBe(1);
  });
});

describe('what somebody waits for', () => {
  it('is read before what is read ahead, also where it was to be read ahead', async () => {
    blobs.hold();
    const indexer = indexerOf();
    const embedder = new LetterEmbedder();
    const files = [1, 2, 3, 4].map((nth) => blobs.file(`${nth}.txt`, `${text} ${nth}`));
    const ahead = files.slice(0, 3).map((file) => indexer.requestIndexing(file, embedder, 'ahead'));
    await until(() => ahead[0]?.hasStarted === true);
    const asked = [files[3], files[2]].map((file) => indexer.requestIndexing(file as IndexedFile, embedder));
    await until(() => asked[0]?.hasStarted === true);
    expect(ahead.map(({ hasStarted: hasBegun }) => hasBegun)).toEqual([true, false, false]);
    blobs.release();
    await Promise.all([...ahead, ...asked].map(({ done }) => done));
    expect(asked[1]).toBe(ahead[2]);
    const order = blobs.reads.map((blob) => files.findIndex((file) => file.blob === blob) + 1);
    expect(order).toHaveLength(4);
    expect(order.indexOf(4)).toBeLessThan(order.indexOf(2));
  });

  it('gets its vectors before what is read ahead', async () => {
    const gate = Promise.withResolvers<void>();
    const embedder = new LetterEmbedder();
    embedder.gate = gate.promise;
    const indexer = indexerOf();
    const ahead = await indexer.requestIndexing(blobs.file('a.md', longText), embedder, 'ahead').done;
    const asked = await read(indexer, blobs.file('b.txt', 'Waited for.'), embedder);
    gate.resolve();
    await until(async () => (await vectorsOf(ahead.id, embedder)) === 80 && (await vectorsOf(asked.id, embedder)) === 1);
    expect(embedder.asked.indexOf('Waited for.')).toBeLessThanOrEqual(64);
  });
});

describe('a restart', () => {
  it('keeps what was read, and goes on with the vectors where it stopped', async () => {
    const file = blobs.file('a.md', longText);
    const first = new LetterEmbedder();
    const before = indexerOf();
    const { id } = await read(before, file, first);
    await until(async () => (await vectorsOf(id, first)) >= 32);
    await before.close();
    const done = await vectorsOf(id, first);
    const second = new LetterEmbedder();
    await read(indexerOf(), file, second);
    await until(async () => (await vectorsOf(id, second)) === 80);
    expect(second.asked).toHaveLength(80 - done);
    expect(blobs.reads).toHaveLength(1);
    const runs = await index.vectors({ document: id, model: 'letters' });
    expect(runs.reduce((sum, { vectors }) => sum + vectors.length, 0)).toBe(80 * 4);
  });

  it('makes vectors anew for another model, and keeps those of the first', async () => {
    const indexer = indexerOf();
    const [one, other] = [new LetterEmbedder('one'), new LetterEmbedder('other')];
    const file = blobs.file('a.txt', text);
    const { id } = await read(indexer, file, one);
    await read(indexer, file, other);
    await until(async () => (await vectorsOf(id, one)) === 1 && (await vectorsOf(id, other)) === 1);
    expect(blobs.reads).toHaveLength(1);
  });

  it('in the middle of reading begins that document anew', async () => {
    const file = blobs.file('a.md', longText);
    const { id, passages } = await read(indexerOf(), file);
    const content = await index.findContent(file.blob);
    await index.begin(id, content ?? '');
    await index.addPassages({ id, title: '' }, [{ nth: 0, page: null, headings: [], text: 'half' }]);
    expect(await index.find(id)).toBeUndefined();
    const again = await read(indexerOf(), file);
    expect(again).toMatchObject({ id, passages });
    expect((await index.read(id, 0, 99)).map((passage) => passage.text)).not.toContain('half');
  });

  it('comes to nothing for who asks when the node has stopped', async () => {
    const indexer = indexerOf();
    await indexer.close();
    await expect(read(indexer, blobs.file('a.txt', text))).rejects.toThrow('the node stops');
  });

  it('while a file waits tells those who wait', async () => {
    const indexer = indexerOf();
    const waiting = [1, 2, 3].map((nth) => read(indexer, blobs.file(`${nth}.md`, `${longText} ${nth}`)));
    const outcomes = Promise.allSettled(waiting);
    await indexer.close();
    expect((await outcomes).some((outcome) => outcome.status === 'rejected')).toBe(true);
  });
});

describe('two nodes', () => {
  it('read a document once between them', async () => {
    await using second = await fresh.open();
    const file = blobs.file('a.md', longText);
    const embedder = new LetterEmbedder();
    const nodes = [indexerOf({ owner: 'one' }), indexerOf({ owner: 'two', index: new SqlPassageIndex(second.database) })];
    const [one, two] = await Promise.all(nodes.map((node) => read(node, file, embedder)));
    expect(two).toEqual(one);
    expect(one?.passages).toBe(80);
    await until(async () => (await vectorsOf(one?.id ?? '', embedder)) === 80);
    expect(embedder.asked).toHaveLength(80);
    await Promise.all(nodes.map((node) => node.close()));
  });

  it.each(['read', 'vectors'])('do not do again what the other ended just before the claim "%s …"', async (work) => {
    await using second = await fresh.open();
    const late = new LateClaims(second.database, work);
    const embedder = new LetterEmbedder();
    const file = blobs.file('a.md', longText);
    const reading = read(indexerOf({ owner: 'two', index: late }), file, embedder);
    await late.claiming.promise;
    const one = await read(indexerOf({ owner: 'one' }), file, embedder);
    await until(async () => (await vectorsOf(one.id, embedder)) === 80);
    late.ended.resolve();
    expect(await reading).toEqual(one);
    await late.released.promise;
    expect(embedder.asked).toHaveLength(80);
    expect(await vectorsOf(one.id, embedder)).toBe(80);
  });

  it('do not wait for ever for one that died', async () => {
    const file = blobs.file('a.txt', text);
    const { id } = await read(indexerOf({ owner: 'dead' }), file);
    await index.drop(id);
    let nowMs = 1_000_000;
    let slept = 0;
    const sleep = async (ms: number): Promise<void> => {
      nowMs += ms;
      slept += ms;
    };
    const clock = { nowMs: () => nowMs, epochMs: () => nowMs, sleep };
    await index.claim({ name: `read ${id}`, owner: 'dead', nowMs, untilMs: nowMs + 60_000 });
    expect((await read(indexerOf({ owner: 'alive', clock }), file)).passages).toBe(1);
    expect(slept).toBeGreaterThan(59_000);
  });
});

describe('a model of vectors that fails', () => {
  it('is left alone for a minute, and words are found meanwhile', async () => {
    let nowMs = 1_000_000;
    const indexer = indexerOf({ clock: { ...systemClock, epochMs: () => nowMs } });
    const embedder = new LetterEmbedder();
    embedder.fault = new Error('no tokens left');
    const files = [1, 2].map((nth) => blobs.file(`${nth}.txt`, `${text} ${nth}`));
    const documents = await Promise.all(files.map((file) => read(indexer, file, embedder)));
    await until(() => faults.length > 0);
    for (const { id } of documents) expect(await index.searchWords('paragraph', [id], 9)).toHaveLength(1);
    embedder.fault = undefined;
    nowMs += 59_000;
    await Promise.all(files.map((file) => read(indexer, file, embedder)));
    const other = new LetterEmbedder('other');
    await read(indexer, blobs.file('3.txt', `${text} 3`), other);
    await until(() => other.asked.length === 1);
    expect(embedder.asked).toEqual([]);
    nowMs += 2000;
    await Promise.all(files.map((file) => read(indexer, file, embedder)));
    await until(() => embedder.asked.length === 2);
    expect(faults).toEqual(['Failed to create vectors with letters']);
  });
});
