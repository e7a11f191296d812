import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { SqlPassageIndex } from '#stores/sql/passages/passage-index.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { type FreshDatabase, freshSqlite } from '#test/sql-engines.ts';
import { DocumentIndexer } from '../../src/tools/retrieval/indexing/document-indexer.ts';
import { defaultDocumentBounds } from '../../src/tools/retrieval/loading/load-document.ts';
import { LetterEmbedder } from './library.ts';
import { getReadError, load } from './loading.ts';

const megabyte = 1024 ** 2;

/** Creates a PDF of one page whose content decompresses to `bytes` spaces. */
function createPdfBomb(bytes: number): Buffer {
  const content = deflateSync(Buffer.alloc(bytes, ' '));
  const parts = [
    '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj ',
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj ',
    `4 0 obj<</Length ${content.length}/Filter/FlateDecode>>stream\n`,
  ];
  return Buffer.concat([Buffer.from(parts.join('')), content, Buffer.from('\nendstream endobj trailer<</Root 1 0 R>>')]);
}

describe('reading a PDF', () => {
  it('is given up with a reason if 240 kB decompress to 250 MB', async () => {
    const bomb = createPdfBomb(250 * megabyte);
    expect(bomb.length).toBeLessThan(300_000);
    expect(await getReadError(load(bomb, 'a.pdf', { maxMemoryMb: 256 }))).toBe(
      'Reading was stopped: it needs more than 256 MiB to be read. Split it into smaller files.',
    );
  });
});

describe('documents of one user that exceed the memory limit', () => {
  let fresh: FreshDatabase;
  let database: Awaited<ReturnType<FreshDatabase['open']>>;

  beforeAll(async () => {
    fresh = await freshSqlite();
    database = await fresh.open();
  });

  afterAll(async () => {
    await database.close();
    await fresh[Symbol.asyncDispose]();
  });

  it('do not delay documents of other users', async () => {
    const blobs = new MemoryBlobs();
    const index = new SqlPassageIndex(database.database);
    const indexer = new DocumentIndexer({
      ...{ index, blobs, clock: systemClock, owner: 'node', reportError: () => undefined },
      bounds: { ...defaultDocumentBounds, maxMemoryMb: 200 },
    });
    const embedder = new LetterEmbedder();
    const order: string[] = [];
    const bomb = createPdfBomb(250 * megabyte);
    const mine = [0, 1, 2].map((nth) => blobs.file(`${nth}.pdf`, Buffer.concat([bomb, Buffer.from(` ${nth}`)]), 'mine'));
    const read = (file: (typeof mine)[number]) =>
      indexer.requestIndexing(file, embedder).done.then(({ failure }) => order.push(`${file.bucket} ${failure ?? 'read'}`));
    const all = mine.map(read);
    await read(blobs.file('a.txt', 'A paragraph.', 'yours'));
    expect(order.filter((each) => each === 'yours read')).toHaveLength(1);
    expect(order.length).toBeLessThanOrEqual(2);
    await Promise.all(all);
    await indexer.close();
    expect(order.filter((each) => each.startsWith('mine Reading was stopped'))).toHaveLength(3);
  });
});
