import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { IndexedDocument, Passage } from '#domain/tools/passage-index.ts';
import { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { SqlPassageIndex } from '#stores/sql/passages/passage-index.ts';
import { describeOnEach } from '#test/sql-engines.ts';

describeOnEach('SqlPassageIndex', (node) => {
  const index = () => new SqlPassageIndex(node.database);
  const other = () => new SqlPassageIndex(node.otherDatabase);

  function createDocument(passages: number, fields: Partial<IndexedDocument> = {}): IndexedDocument {
    const id = randomUUID();
    return {
      id,
      title: 'Manual',
      format: 'md',
      passageCount: passages,
      tokenCount: 7,
      note: undefined,
      failure: undefined,
      ...fields,
    };
  }

  function createPassage(text: string, nth = 0, headings: readonly string[] = []): Passage {
    return { nth, page: null, headings, text };
  }

  /** Stores a document with one passage for each text. */
  async function put(texts: readonly string[], fields: Partial<IndexedDocument> = {}): Promise<IndexedDocument> {
    const document = createDocument(texts.length, fields);
    await index().startDocument(document.id, `content of ${document.id}`);
    await index().addPassages(
      document,
      texts.map((text, nth) => createPassage(text, nth)),
    );
    await index().finishDocument(document);
    return document;
  }

  async function search(text: string, documents: readonly IndexedDocument[], limit = 9): Promise<number[]> {
    const ids = documents.map(({ id }) => id);
    return (await index().searchWords(text, ids, limit)).map(({ nth }) => nth);
  }

  it('shows a document on all nodes once it is complete', async () => {
    const document = createDocument(2, { note: 'Page 3 is empty.', title: 'Größe "x" \u{1f600}' });
    const passages = [
      { nth: 0, page: 1, headings: ['A', 'B "c"'], text: 'one\ntwo' },
      { nth: 1, page: null, headings: [], text: '猫' },
    ];
    await index().startDocument(document.id, 'content');
    await index().addPassages(document, passages);
    expect(await other().find(document.id)).toBeUndefined();
    expect(await index().finishDocument(document)).toBe(true);
    expect(await other().find(document.id)).toEqual(document);
    expect(await other().readRange(document.id, 0, 2)).toEqual(passages);
    expect(await other().readRange(document.id, -1, 1)).toEqual([passages[0]]);
    expect(await other().readRange(document.id, 1, 99)).toEqual([passages[1]]);
  });

  it('stores the reason if a document could not be read', async () => {
    const document = createDocument(0, { failure: 'It is empty.' });
    await index().startDocument(document.id, 'content');
    await index().finishDocument(document);
    expect(await other().find(document.id)).toEqual(document);
  });

  it('discards the passages and vectors of an unfinished attempt when indexing restarts', async () => {
    const document = createDocument(1);
    await index().startDocument(document.id, 'content');
    await index().addPassages(document, [createPassage('an old word', 0), createPassage('an old word', 1)]);
    await index().addVectors({ document: document.id, model: 'm' }, { first: 0, count: 1, vectors: Float32Array.of(1) });
    await index().startDocument(document.id, 'content');
    await index().addPassages(document, [createPassage('a new word', 0)]);
    await index().finishDocument(document);
    expect(await index().readRange(document.id, 0, 9)).toHaveLength(1);
    expect(await search('old', [document])).toEqual([]);
    expect(await index().countVectors({ document: document.id, model: 'm' })).toBe(0);
  });

  it('returns false from finish if the document was dropped before', async () => {
    const document = createDocument(1);
    await index().startDocument(document.id, 'content');
    await other().deleteDocument(document.id);
    expect(await index().finishDocument(document)).toBe(false);
    expect(await index().find(document.id)).toBeUndefined();
  });

  it('finds inflected and differently cased words, also in titles and headings', async () => {
    const document = createDocument(4, { title: 'Handbook of kettles' });
    await index().startDocument(document.id, 'content');
    await index().addPassages(document, [
      createPassage('Cleaning the filters is easy.', 0),
      createPassage('It whistles.', 1, ['Daily use']),
      createPassage('Call the service.', 2, ['Warranty']),
      createPassage('Größe und Maß', 3),
    ]);
    await index().finishDocument(document);
    expect(await search('how do I clean a filter?', [document])).toEqual([0]);
    expect(await search('warranties', [document])).toEqual([2]);
    expect(await search('GROSSE größe', [document])).toEqual([3]);
    expect(await search('kettle', [document])).toHaveLength(4);
    expect(await search('giraffe', [document])).toEqual([]);
  });

  it('finds codes with different punctuation, and words in scripts without spaces', async () => {
    const document = await put([
      'Order AB-1234/x today',
      'Order AB-1235/x today',
      'lb-07.edge 3.5 kg',
      '清洗咖啡机的过滤器',
      '第二章',
    ]);
    expect((await search('ab1234x', [document]))[0]).toBe(0);
    expect((await search('AB 1235/X', [document]))[0]).toBe(1);
    expect((await search('what is lb-07.edge', [document]))[0]).toBe(2);
    expect(await search('3.5', [document])).toEqual([2]);
    expect(await search('过滤器', [document])).toEqual([3]);
  });

  it('ranks passages with rarer and more matching words first', async () => {
    const common = Array.from({ length: 8 }, (_, nth) => `machine number ${nth} hums in the hall`);
    const document = await put([...common, 'the machine has a valve', 'a valve leaks on the machine near the boiler']);
    expect((await search('machine valve boiler', [document])).slice(0, 2)).toEqual([9, 8]);
    expect(await search('machine valve boiler', [document], 1)).toEqual([9]);
  });

  it('returns which share of the question words a passage contains', async () => {
    const document = await put(['the valve of the boiler', 'a valve']);
    const hits = await index().searchWords('Which valve is on the boiler?', [document.id], 9);
    expect(hits.map(({ nth, matchedShare: share }) => [nth, share])).toEqual([
      [0, 1],
      [1, 0.5],
    ]);
  });

  it('searches only the specified documents', async () => {
    const mine = await put(['the secret word']);
    const theirs = await put(['the secret word']);
    const hits = await index().searchWords('secret', [mine.id], 9);
    expect(hits.map(({ document }) => document)).toEqual([mine.id]);
    expect(await index().searchWords('secret', [mine.id, theirs.id], 9)).toHaveLength(2);
    expect(await index().searchWords('secret', [], 9)).toEqual([]);
  });

  it.each([
    '',
    '?!',
    '" OR document:*',
    "'; drop table passages; --",
    'a'.repeat(5000),
    'NEAR(a b) AND NOT c*',
    '\ud800',
    'the of and',
    '\\ % _',
  ])('treats %j as plain words', async (text) => {
    const document = await put(['some words']);
    expect(await search(text, [document])).toEqual([]);
    expect(await search(`${text} words`, [document])).toEqual([0]);
  });

  it('stores vectors per model and returns them in passage order', async () => {
    const key = { document: randomUUID(), model: 'm' };
    const second = { first: 2, count: 1, vectors: Float32Array.of(5, -6) };
    const first = { first: 0, count: 2, vectors: Float32Array.of(0.1, 2, 3, 4).subarray(0, 4) };
    await index().addVectors(key, second);
    await index().addVectors(key, first);
    await index().addVectors(key, first);
    expect(await other().readVectors(key)).toEqual([first, second]);
    expect(await other().countVectors(key)).toBe(3);
    expect(await other().readVectors({ ...key, model: 'n' })).toEqual([]);
    expect(await other().countVectors({ ...key, model: 'n' })).toBe(0);
  });

  it('grants a lease to one owner until it expires or is released', async () => {
    const name = randomUUID();
    const claim = (owner: string, nowMs: number) => index().claim({ name, owner, nowMs, untilMs: nowMs + 10 });
    const race = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (n % 2 ? index() : other()).claim({ name, owner: `node ${n}`, nowMs: 0, untilMs: 10 }),
      ),
    );
    expect(race.filter(Boolean)).toHaveLength(1);
    const winner = `node ${race.indexOf(true)}`;
    expect(await claim('late', 10)).toBe(false);
    expect(await claim(winner, 10)).toBe(true);
    expect(await claim('late', 20)).toBe(false);
    expect(await claim('late', 21)).toBe(true);
    await index().release({ name, owner: winner });
    expect(await claim(winner, 22)).toBe(false);
    await index().release({ name, owner: 'late' });
    expect(await claim(winner, 22)).toBe(true);
  });

  it('deletes documents that no stored file has, and unfinished documents', async () => {
    const files = new SqlFileIndex(node.database);
    const blobs = [randomUUID(), randomUUID()];
    const [referenced, orphaned, unfinished] = [await put(['kept word']), await put(['gone word']), createDocument(1)];
    const stored = { bucket: randomUUID(), contentType: 'text/plain', contentLength: 1, createdAtMs: 1, updatedAtMs: 1 };
    for (const [at, blob] of blobs.entries()) {
      await files.put({ ...stored, path: `file ${at}`, etag: blob, blob }, undefined, 100);
      await index().recordContent(blob, `content of ${[referenced, orphaned][at]?.id}`);
    }
    await index().startDocument(unfinished.id, 'content of nothing');
    await index().addPassages(unfinished, [createPassage('unfinished')]);
    await index().sweep();
    expect(await index().find(orphaned.id)).toEqual(orphaned);
    expect(await index().readRange(unfinished.id, 0, 9)).toEqual([]);
    await files.delete(stored.bucket, 'file 1', undefined);
    await index().sweep();
    expect(await index().find(referenced.id)).toEqual(referenced);
    expect(await search('word', [referenced, orphaned])).toHaveLength(1);
    expect(await index().find(orphaned.id)).toBeUndefined();
    expect(await index().findContent(blobs[0] ?? '')).toBe(`content of ${referenced.id}`);
    expect(await index().findContent(blobs[1] ?? '')).toBeUndefined();
  });

  it('stores, searches, and drops thousands of passages', async () => {
    const document = createDocument(2300);
    await index().startDocument(document.id, 'content');
    const passages = Array.from({ length: 2300 }, (_, nth) => createPassage(`passage number ${nth} of many`, nth));
    await index().addPassages(document, passages);
    await index().finishDocument(document);
    expect((await search('number 1777', [document]))[0]).toBe(1777);
    await index().deleteDocument(document.id);
    expect(await search('number 1777', [document])).toEqual([]);
    expect(await index().readRange(document.id, 0, 9999)).toEqual([]);
    expect(await put(['after it']).then(({ id }) => index().find(id))).toBeDefined();
  });
});
