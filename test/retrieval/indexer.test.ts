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
import { LetterEmbedder, waitUntil } from './library.ts';

const text = 'A first paragraph.\n\nAnother one.';
/** A text with more passages than one embedding batch. */
const longText = Array.from({ length: 80 }, (_, nth) => `# Part ${nth}\n\nabc ${nth}`).join('\n\n');

let fresh: FreshDatabase;
let database: OpenDatabase;
let index: SqlPassageIndex;
let blobs: MemoryBlobs;
let errors: string[];
const opened: DocumentIndexer[] = [];

beforeEach(async () => {
  fresh = await freshSqlite();
  database = await fresh.open();
  index = new SqlPassageIndex(database.database);
  blobs = new MemoryBlobs();
  errors = [];
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((indexer) => indexer.close()));
  await database.close();
  await fresh[Symbol.asyncDispose]();
});

interface IndexerOptions {
  readonly owner?: string;
  readonly index?: PassageIndex;
  readonly clock?: Clock;
  readonly maxBytes?: number;
}

function createIndexer({
  owner = 'node',
  clock = systemClock,
  maxBytes = 100_000,
  ...options
}: IndexerOptions = {}): DocumentIndexer {
  const indexer = new DocumentIndexer({
    ...{ index: options.index ?? index, blobs, clock, owner },
    bounds: { ...defaultDocumentBounds, maxBytes },
    reportError: (message) => errors.push(message),
  });
  opened.push(indexer);
  return indexer;
}

/** Delays the claims of one kind of work until `ended` resolves, so that another node does the work first. */
class LateClaims extends SqlPassageIndex {
  readonly claiming = Promise.withResolvers<void>();
  readonly ended = Promise.withResolvers<void>();
  /** Resolves when the lease for creating vectors is released, which is the last step. */
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

function countVectors(document: string, embedder: LetterEmbedder): Promise<number> {
  return index.countVectors({ document, model: embedder.model });
}

async function read(indexer: DocumentIndexer, file: IndexedFile, embedder = new LetterEmbedder()) {
  return indexer.requestIndexing(file, embedder).done;
}

describe('a file in the document index', () => {
  it('is searchable by words first and by vectors later', async () => {
    const embedder = new LetterEmbedder();
    const gate = Promise.withResolvers<void>();
    embedder.gate = gate.promise;
    const document = await read(createIndexer(), blobs.file('a.md', longText), embedder);
    expect(document).toMatchObject({ format: 'md', passageCount: 80, failure: undefined });
    expect(await index.searchWords('part 77', [document.id], 1)).toHaveLength(1);
    expect(await countVectors(document.id, embedder)).toBe(0);
    gate.resolve();
    await waitUntil(async () => (await countVectors(document.id, embedder)) === 80);
    expect(embedder.inputs).toHaveLength(80);
    expect(embedder.inputs[77]).toBe('Part 0 › Part 77\nabc 77');
  });

  it('sends no half characters of long headings to the embedding model', async () => {
    const embedder = new LetterEmbedder();
    await read(createIndexer(), blobs.file('a.md', `# ${'😀'.repeat(80)}a\n\ntext`), embedder);
    await waitUntil(async () => embedder.inputs.length === 1);
    expect(embedder.inputs[0]?.isWellFormed()).toBe(true);
  });

  it('is read once for repeated and concurrent requests', async () => {
    const indexer = createIndexer();
    const file = blobs.file('a.txt', text);
    const embedder = new LetterEmbedder();
    const documents = await Promise.all([1, 2, 3].map(() => read(indexer, file, embedder)));
    expect(new Set(documents.map(({ id }) => id)).size).toBe(1);
    await waitUntil(async () => (await countVectors(documents[0]?.id ?? '', embedder)) === 1);
    await read(indexer, file, embedder);
    expect(blobs.reads).toHaveLength(1);
    expect(embedder.inputs).toHaveLength(1);
  });

  it('shares a document with a file of the same content and format', async () => {
    const indexer = createIndexer();
    const embedder = new LetterEmbedder();
    const one = await read(indexer, blobs.file('a/one.md', longText), embedder);
    const same = await read(indexer, blobs.file('b/two.md', longText, 'another bucket'), embedder);
    const other = await read(indexer, blobs.file('c/two.txt', longText), embedder);
    expect(same).toEqual(one);
    expect(other.id).not.toBe(one.id);
    await waitUntil(async () => (await countVectors(one.id, embedder)) === 80);
    expect(embedder.inputs.filter((input) => input.endsWith('abc 77'))).toHaveLength(1);
  });

  it('is read once with another file of the same content, even concurrently', async () => {
    const indexer = createIndexer();
    const embedder = new LetterEmbedder();
    const [prefetched, requested] = [blobs.file('one.md', longText), blobs.file('two.md', longText)];
    const readings = [indexer.requestIndexing(prefetched, embedder, 'prefetch'), indexer.requestIndexing(requested, embedder)];
    const [one, two] = await Promise.all(readings.map(({ done }) => done));
    expect(two).toEqual(one);
    expect(await index.readRange(one?.id ?? '', 0, 999)).toHaveLength(80);
    expect(errors).toEqual([]);
  });

  it('stores the reason if it cannot be read, and is not read again', async () => {
    const file = blobs.file('a.json', '{');
    const first = await read(createIndexer(), file);
    expect(first.failure).toContain('It is not valid JSON');
    expect(await read(createIndexer(), file)).toEqual(first);
    expect(blobs.reads).toHaveLength(1);
  });

  it('is read later if its process cannot be started', async () => {
    const file = blobs.file('a.txt', text);
    const { execPath } = process;
    process.execPath = '/missing/node';
    try {
      expect(await read(createIndexer(), file)).toMatchObject({
        id: '',
        failure: 'It was not read: its process cannot be started. Try again later.',
      });
    } finally {
      process.execPath = execPath;
    }
    expect(await read(createIndexer(), file)).toMatchObject({ passageCount: 1, failure: undefined });
  });

  it('is not fetched if it is too large', async () => {
    const document = await read(createIndexer({ maxBytes: 2_000_000 }), blobs.file('a.txt', 'x'.repeat(3_000_000)));
    expect(document.failure).toBe('It has 2.9 MB. The limit is 1.9 MB.');
    expect(blobs.reads).toEqual([]);
  });

  it('fails without a stored result if it was deleted', async () => {
    const file = blobs.file('a.txt', text);
    blobs.contents.clear();
    expect(await read(createIndexer(), file)).toMatchObject({
      id: '',
      failure: 'It was deleted or replaced while it was to be read.',
    });
    expect(await index.findContent(file.blob)).toBeUndefined();
  });

  it('fails if its length differs from the length in the file index', async () => {
    const document = await read(createIndexer(), { ...blobs.file('a.txt', text), contentLength: 5 });
    expect(document.failure).toBe('Its stored content does not have the expected size. Upload it again.');
  });

  it('is read on the next request if the store failed', async () => {
    let isUnavailable = true;
    const shaky = new Proxy(index, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (name === 'find' && isUnavailable) return () => Promise.reject(new Error('unavailable'));
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const indexer = createIndexer({ index: shaky });
    const file = blobs.file('a.txt', text);
    await expect(read(indexer, file)).rejects.toThrow('unavailable');
    expect(errors).toEqual(['failed to read a document']);
    isUnavailable = false;
    expect((await read(indexer, file)).passageCount).toBe(1);
  });
});

describe('a file that a request waits for', () => {
  it('is read before prefetched files, even if it was queued as one', async () => {
    blobs.hold();
    const indexer = createIndexer();
    const embedder = new LetterEmbedder();
    const files = [1, 2, 3, 4].map((nth) => blobs.file(`${nth}.txt`, `${text} ${nth}`));
    const prefetched = files.slice(0, 3).map((file) => indexer.requestIndexing(file, embedder, 'prefetch'));
    await waitUntil(() => prefetched[0]?.hasStarted === true);
    const requested = [files[3], files[2]].map((file) => indexer.requestIndexing(file as IndexedFile, embedder));
    await waitUntil(() => requested[0]?.hasStarted === true);
    expect(prefetched.map(({ hasStarted }) => hasStarted)).toEqual([true, false, false]);
    blobs.release();
    await Promise.all([...prefetched, ...requested].map(({ done }) => done));
    expect(requested[1]).toBe(prefetched[2]);
    const order = blobs.reads.map((blob) => files.findIndex((file) => file.blob === blob) + 1);
    expect(order).toHaveLength(4);
    expect(order.indexOf(4)).toBeLessThan(order.indexOf(2));
  });

  it('receives its vectors before prefetched files', async () => {
    const gate = Promise.withResolvers<void>();
    const embedder = new LetterEmbedder();
    embedder.gate = gate.promise;
    const indexer = createIndexer();
    const prefetched = await indexer.requestIndexing(blobs.file('a.md', longText), embedder, 'prefetch').done;
    const requested = await read(indexer, blobs.file('b.txt', 'Waited for.'), embedder);
    gate.resolve();
    await waitUntil(
      async () => (await countVectors(prefetched.id, embedder)) === 80 && (await countVectors(requested.id, embedder)) === 1,
    );
    expect(embedder.inputs.indexOf('Waited for.')).toBeLessThanOrEqual(64);
  });
});

describe('a restart of the document indexer', () => {
  it('retains read documents and continues with the missing vectors', async () => {
    const file = blobs.file('a.md', longText);
    const first = new LetterEmbedder();
    const before = createIndexer();
    const { id } = await read(before, file, first);
    await waitUntil(async () => (await countVectors(id, first)) >= 32);
    await before.close();
    const done = await countVectors(id, first);
    const second = new LetterEmbedder();
    await read(createIndexer(), file, second);
    await waitUntil(async () => (await countVectors(id, second)) === 80);
    expect(second.inputs).toHaveLength(80 - done);
    expect(blobs.reads).toHaveLength(1);
    const runs = await index.readVectors({ document: id, model: 'letters' });
    expect(runs.reduce((sum, { vectors }) => sum + vectors.length, 0)).toBe(80 * 4);
  });

  it('creates vectors for a second model and retains the vectors of the first', async () => {
    const indexer = createIndexer();
    const [one, other] = [new LetterEmbedder('one'), new LetterEmbedder('other')];
    const file = blobs.file('a.txt', text);
    const { id } = await read(indexer, file, one);
    await read(indexer, file, other);
    await waitUntil(async () => (await countVectors(id, one)) === 1 && (await countVectors(id, other)) === 1);
    expect(blobs.reads).toHaveLength(1);
  });

  it('reads a document again if it was interrupted during reading', async () => {
    const file = blobs.file('a.md', longText);
    const { id, passageCount } = await read(createIndexer(), file);
    const content = await index.findContent(file.blob);
    await index.startDocument(id, content ?? '');
    await index.addPassages({ id, title: '' }, [{ nth: 0, page: null, headings: [], text: 'half' }]);
    expect(await index.find(id)).toBeUndefined();
    const again = await read(createIndexer(), file);
    expect(again).toMatchObject({ id, passageCount });
    expect((await index.readRange(id, 0, 99)).map((passage) => passage.text)).not.toContain('half');
  });

  it('rejects requests after the node has stopped', async () => {
    const indexer = createIndexer();
    await indexer.close();
    await expect(read(indexer, blobs.file('a.txt', text))).rejects.toThrow('the node stops');
  });

  it('rejects requests whose files are still waiting', async () => {
    const indexer = createIndexer();
    const waiting = [1, 2, 3].map((nth) => read(indexer, blobs.file(`${nth}.md`, `${longText} ${nth}`)));
    const outcomes = Promise.allSettled(waiting);
    await indexer.close();
    expect((await outcomes).some((outcome) => outcome.status === 'rejected')).toBe(true);
  });
});

describe('a document that is deleted while its vectors are created', () => {
  it('ends their creation, and the next sweep deletes the last batch', async () => {
    const embedder = new LetterEmbedder();
    const gate = Promise.withResolvers<void>();
    embedder.gate = gate.promise;
    const observed = new LateClaims(database.database, 'vectors');
    observed.ended.resolve();
    const { id } = await read(createIndexer({ index: observed }), blobs.file('a.md', longText), embedder);
    await waitUntil(() => embedder.calls === 1);
    await index.deleteDocument(id);
    gate.resolve();
    await observed.released.promise;
    expect(embedder.inputs).toHaveLength(64);
    await index.sweep();
    expect(await countVectors(id, embedder)).toBe(0);
  });
});

describe('two nodes that index documents', () => {
  it('read a shared document only once', async () => {
    await using second = await fresh.open();
    const file = blobs.file('a.md', longText);
    const embedder = new LetterEmbedder();
    const nodes = [createIndexer({ owner: 'one' }), createIndexer({ owner: 'two', index: new SqlPassageIndex(second.database) })];
    const [one, two] = await Promise.all(nodes.map((node) => read(node, file, embedder)));
    expect(two).toEqual(one);
    expect(one?.passageCount).toBe(80);
    await waitUntil(async () => (await countVectors(one?.id ?? '', embedder)) === 80);
    expect(embedder.inputs).toHaveLength(80);
    await Promise.all(nodes.map((node) => node.close()));
  });

  it.each(['read', 'vectors'])('do not repeat work that the other node finished just before the claim "%s …"', async (work) => {
    await using second = await fresh.open();
    const late = new LateClaims(second.database, work);
    const embedder = new LetterEmbedder();
    const file = blobs.file('a.md', longText);
    const reading = read(createIndexer({ owner: 'two', index: late }), file, embedder);
    await late.claiming.promise;
    const one = await read(createIndexer({ owner: 'one' }), file, embedder);
    await waitUntil(async () => (await countVectors(one.id, embedder)) === 80);
    late.ended.resolve();
    expect(await reading).toEqual(one);
    await late.released.promise;
    expect(embedder.inputs).toHaveLength(80);
    expect(await countVectors(one.id, embedder)).toBe(80);
  });

  it('wait for the lease of a dead node only until it expires', async () => {
    const file = blobs.file('a.txt', text);
    const { id } = await read(createIndexer({ owner: 'dead' }), file);
    await index.deleteDocument(id);
    let nowMs = 1_000_000;
    let slept = 0;
    const sleep = async (ms: number): Promise<void> => {
      nowMs += ms;
      slept += ms;
    };
    const clock = { nowMs: () => nowMs, epochMs: () => nowMs, sleep };
    await index.claim({ name: `read ${id}`, owner: 'dead', nowMs, untilMs: nowMs + 60_000 });
    expect((await read(createIndexer({ owner: 'alive', clock }), file)).passageCount).toBe(1);
    expect(slept).toBeGreaterThan(59_000);
  });
});

describe('an embedding model that fails', () => {
  it('receives no requests for a minute, during which word search works', async () => {
    let nowMs = 1_000_000;
    const indexer = createIndexer({ clock: { ...systemClock, epochMs: () => nowMs } });
    const embedder = new LetterEmbedder();
    embedder.error = new Error('no tokens left');
    const files = [1, 2].map((nth) => blobs.file(`${nth}.txt`, `${text} ${nth}`));
    const documents = await Promise.all(files.map((file) => read(indexer, file, embedder)));
    await waitUntil(() => errors.length > 0);
    for (const { id } of documents) expect(await index.searchWords('paragraph', [id], 9)).toHaveLength(1);
    embedder.error = undefined;
    nowMs += 59_000;
    await Promise.all(files.map((file) => read(indexer, file, embedder)));
    const other = new LetterEmbedder('other');
    await read(indexer, blobs.file('3.txt', `${text} 3`), other);
    await waitUntil(() => other.inputs.length === 1);
    expect(embedder.inputs).toEqual([]);
    nowMs += 2000;
    await Promise.all(files.map((file) => read(indexer, file, embedder)));
    await waitUntil(() => embedder.inputs.length === 2);
    expect(errors).toEqual(['failed to create vectors with letters']);
  });
});
