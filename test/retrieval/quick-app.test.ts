import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { getBucket } from '#test/buckets.ts';
import { MemoryApplicationStore } from '#test/memory-application-store.ts';
import { startProcess } from '#test/start-process.ts';
import { createStoreError } from '#test/store-error.ts';
import { makeDocument } from '../../bench/retrieval/make/make-document.ts';
import { makePdf } from '../../bench/retrieval/make/make-pdf.ts';
import { calls, quickApp, says, stagesOf, toldTo, user } from '../quick-apps/support.ts';
import { until } from './library.ts';
import { attachmentsOf, startWith, TestShelves } from './rig.ts';
import { heldEmbedder, wordEmbedder } from './word-embedder.ts';

const pages = [
  [{ text: 'The mill was built by monks in 1283.', size: 11 }],
  [{ text: 'The weavers came in 1846 with forty looms.', size: 11 }],
];
/** More than is shown whole: sections of three passages each. */
const long = Array.from({ length: 120 }, (_, nth) => {
  const filler = 'Some words that fill the passage up to its end and say nothing of importance to anybody. '.repeat(5);
  return `## Section ${nth}\n\n${filler}\n\nThe code of room ${nth} is ZX-${1000 + nth}.\n\n${filler}`;
}).join('\n\n');

let shelves: TestShelves;

beforeEach(async () => {
  shelves = await TestShelves.open();
});

afterEach(() => shelves[Symbol.asyncDispose]());

describe('documents that are small', () => {
  it('are shown to the model whole, and the passages to the point to the user with their page', async () => {
    const references = [await shelves.put('history.pdf', makePdf(pages)), await shelves.put('notes/a.txt', 'Bring AB-12 along.')];
    await using rig = await startWith(shelves, references, { query: 'Who built the mill?' });
    const answered = await rig.chat('Who built the mill?');
    expect(rig.offered(0).map(({ function: { name } }) => name)).toEqual(['query_document']);
    expect(rig.offered(0)[0]?.function.description).toContain('history.pdf, a.txt');
    const told = toldTo(rig)[0] ?? '';
    expect(told).toMatch(/^\[1\] history\.pdf, page 1\nThe mill was built by monks in 1283\./);
    expect(told).toContain('history.pdf, page 2\nThe weavers came in 1846 with forty looms.');
    expect(told).toContain('a.txt\nBring AB-12 along.');
    expect(told).toContain('such as [1]');
    expect(attachmentsOf(answered)[0]).toEqual({
      index: 0,
      type: 'text/markdown',
      title: 'history.pdf, p. 1',
      data: 'The mill was built by monks in 1283.',
      reference_type: 'text/plain',
      reference_url: 'files/bucket/history.pdf#page=1',
    });
    const [stage] = stagesOf(answered);
    expect(stage).toMatchObject({ name: 'query_document', status: 'completed' });
    expect(stage?.attachments?.[0]).toMatchObject({ title: 'history.pdf, p. 1' });
    expect(answered.completion.choices[0]?.message.content).toBe('Done.');
  });

  it('can be asked for by name', async () => {
    const references = [
      await shelves.put('a/same.txt', 'first'),
      await shelves.put('b/same.txt', 'second'),
      await shelves.put('c.txt', 'third'),
    ];
    const asking = [
      calls(
        ['query_document', { query: 'x', files: ['A/SAME.txt'] }],
        ['query_document', { query: 'x', files: 'c.txt' }],
        ['query_document', { query: 'x', files: ['d.txt'] }],
        ['query_document', { files: [] }],
      ),
      says('Done.'),
    ];
    await using rig = await startWith(shelves, references, {}, { replies: asking });
    const answered = await rig.chat('look');
    const [one, two, three, four] = toldTo(rig);
    expect(one).toContain('a/same.txt\nfirst');
    expect(one).not.toContain('second');
    expect(two).toContain('third');
    expect(two).not.toContain('first');
    expect(three).toContain('There is no document named d.txt');
    expect(three).toContain('a/same.txt, b/same.txt, c.txt');
    expect(four).toContain("arguments must have required property 'query'");
    expect(stagesOf(answered).map(({ status }) => status)).toEqual(['completed', 'completed', 'failed', 'failed']);
  });
});

describe('documents that are large', () => {
  it('are searched: the model gets numbered passages with what stands around them', async () => {
    const reference = await shelves.put('rooms.md', long);
    await using rig = await startWith(shelves, [reference], { query: 'code ZX-1077' });
    const answered = await rig.chat('What is ZX-1077?');
    const told = toldTo(rig)[0] ?? '';
    expect(told).toMatch(/^\[1\] rooms\.md — Section 0 › Section 77\n|^\[1\] rooms\.md — Section 77\n/);
    expect(told).toContain('The code of room 77 is ZX-1077.');
    expect(told.match(/^\[\d+\]/gm)?.length).toBeLessThanOrEqual(12);
    expect(told.length).toBeLessThan(20_000);
    const [first, ...others] = stagesOf(answered)[0]?.attachments ?? [];
    expect(first).toMatchObject({ title: 'rooms.md', reference_url: 'files/bucket/rooms.md' });
    expect(first?.data).toContain('ZX-1077');
    expect(others.length + 1).toBe(told.match(/^\[\d+\]/gm)?.length);
    expect(attachmentsOf(answered)).toEqual([first]);
  });

  it('are those of many small passages as well', async () => {
    const reference = await shelves.put(
      'rooms.md',
      Array.from({ length: 150 }, (_, nth) => `# Room ${nth}\n\nkey ${nth}`).join('\n\n'),
    );
    await using rig = await startWith(shelves, [reference], { query: 'room 77' });
    const answered = await rig.chat('Room 77?');
    expect(toldTo(rig)[0]).toContain('key 77');
    expect(stagesOf(answered)[0]?.attachments?.length).toBeLessThanOrEqual(12);
  });

  it('are waited for until they are found by what they mean, which a stage tells', async () => {
    const reference = await shelves.put('rooms.md', long);
    const { embedder, release } = heldEmbedder();
    await using rig = await startWith(shelves, [reference], { query: 'code ZX-1077' }, { options: { embedder } });
    const stream = await rig.service.stream('app', { messages: [user('What is ZX-1077?')] });
    let told = '';
    for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
      told += JSON.stringify(event);
      if (/Preparing the search by meaning: 0 of \d+ passages\./.test(told)) release();
    }
    expect(toldTo(rig)[0]).not.toContain('Searched by words only');
  });

  it('are searched by words only where vectors cannot be made, which the model is told', async () => {
    const reference = await shelves.put('rooms.md', long);
    const { embedder, fail } = heldEmbedder();
    fail();
    await using rig = await startWith(shelves, [reference], { query: 'code ZX-1077' }, { options: { embedder } });
    await rig.chat('What is ZX-1077?');
    expect(toldTo(rig)[0]).toContain('Note: Searched by words only');
    expect(toldTo(rig)[0]).toContain('ZX-1077');
  });

  it('give as many passages as is set, those that follow each other as one, and what fits less not at all', async () => {
    const reference = await shelves.put('rooms.md', long);
    const found = async (retrieval: object, query: string) => {
      await using rig = await startWith(shelves, [reference], { query }, { app: { retrieval } });
      await rig.chat(query);
      return { told: toldTo(rig)[0] ?? '', count: toldTo(rig)[0]?.match(/^\[\d+\]/gm)?.length ?? 0 };
    };
    const many = await found({}, 'What is the code of the room?');
    const few = await found({ passages: 2 }, 'What is the code of the room?');
    const none = await found({ minScore: 1 }, 'Which giraffe has the code of the room?');
    const short = await found({ maxBytes: 2000 }, 'What is the code of the room?');
    expect([many.count, few.count, none.count]).toEqual([12, 2, 0]);
    expect(none.told).toMatch(/^Nothing in the documents fits this question\./);
    expect(Buffer.byteLength(short.told)).toBeLessThanOrEqual(2000);
  });

  it('that have nothing to the point give nothing', async () => {
    const reference = await shelves.put('rooms.md', long);
    await using rig = await startWith(shelves, [reference], { query: 'giraffe' });
    const answered = await rig.chat('giraffes?');
    expect(toldTo(rig)[0]).toMatch(/^Nothing in the documents fits this question\./);
    expect(attachmentsOf(answered)).toEqual([]);
  });

  it('never give more than the model may be shown', async () => {
    const reference = await shelves.put('rooms.md', long);
    const configuration = { tools: { maxResultBytes: 3000 } };
    await using rig = await startWith(shelves, [reference], { query: 'words of room 77' }, { configuration });
    await rig.chat('look');
    const told = toldTo(rig)[0] ?? '';
    expect(Buffer.byteLength(told)).toBeLessThanOrEqual(3000);
    expect(told).not.toContain('[Cut here');
    expect(told).toMatch(/^\[1\]/);
  });
});

describe('what cannot be had', () => {
  it('is named before anything else, and the rest works', async () => {
    const references = ['files/bucket/gone%20away.txt', await shelves.put('here.txt', 'I am here.'), 'files/bucket/../x'];
    await using rig = await startWith(shelves, references, { query: 'who' });
    const answered = await rig.chat('look');
    const [first, second, third] = stagesOf(answered);
    expect(first).toMatchObject({ name: 'files/bucket/gone%20away.txt', status: 'failed' });
    expect(first?.content).toBe('No file is stored at this path. It may have been moved or deleted.');
    expect(second).toMatchObject({ name: 'files/bucket/../x', status: 'failed' });
    expect(third).toMatchObject({ name: 'query_document', status: 'completed' });
    expect(toldTo(rig)[0]).toContain('I am here.');
  });

  it('leaves an application that answers without its documents', async () => {
    await using rig = await startWith(shelves, ['files/bucket/gone.txt'], {}, { replies: [says('Hello.')] });
    const answered = await rig.chat('hello');
    expect(stagesOf(answered)).toMatchObject([{ status: 'failed' }]);
    expect(rig.offered()).toEqual([]);
    expect(answered.completion.choices[0]?.message.content).toBe('Hello.');
  });

  it('is told to the model and the user where a document is broken', async () => {
    const references = [await shelves.put('broken.pdf', '%PDF-1.7 oh'), await shelves.put('good.txt', 'All is well.')];
    await using rig = await startWith(shelves, references, { query: 'how is it?' });
    const answered = await rig.chat('look');
    expect(toldTo(rig)[0]).toContain('All is well.');
    const note = 'Note: broken.pdf cannot be read. The file is damaged: it cannot be read as PDF.';
    expect(toldTo(rig)[0]).toContain(note);
    expect(stagesOf(answered)[0]?.content).toContain(note);
  });

  it('is a failed stage where all are broken', async () => {
    await using rig = await startWith(shelves, [await shelves.put('empty.txt', '')], { query: 'how is it?' });
    const answered = await rig.chat('look');
    expect(stagesOf(answered)).toMatchObject([{ name: 'query_document', status: 'failed' }]);
    expect(toldTo(rig)[0]).toBe('empty.txt cannot be read. It is empty: there is no text in it.');
  });

  it('is told where a file is deleted after the application found it', async () => {
    const references = [await shelves.put('Größe 猫.txt', 'Text.'), await shelves.put('good.txt', 'All is well.')];
    shelves.blobs.contents.delete(shelves.files.all[0]?.blob ?? '');
    await using rig = await startWith(shelves, references, { query: 'how is it?' });
    await rig.chat('look');
    const told = 'Note: Größe 猫.txt cannot be read. It was deleted or replaced while it was to be read.';
    expect(toldTo(rig)[0]).toContain(told);
    expect(toldTo(rig)[0]).toContain('All is well.');
  });

  it('are all files where the store is away, or there is none', async () => {
    const reference = await shelves.put('a.txt', 'text');
    const away = { findAll: () => Promise.reject(createStoreError('gone')) } as never;
    const options = { files: { index: away, blobs: shelves.blobs } };
    await using rig = await startWith(shelves, [reference], {}, { replies: [says('Hello.')], options });
    expect(stagesOf(await rig.chat('hello'))).toMatchObject([
      { name: 'Documents', status: 'failed', content: 'The index of stored files is unavailable. Try again later.' },
    ]);
    const none = { files: undefined, passages: undefined } as never;
    await using bare = await startWith(shelves, [reference], {}, { replies: [says('Hello.')], options: none });
    expect(stagesOf(await bare.chat('hello'))).toMatchObject([{ name: 'Documents', content: 'No files are stored here.' }]);
  });
});

describe('what the user attaches', () => {
  it('goes to the model as it is, with an index or without, and leaves the documents alone', async () => {
    const reference = await shelves.put('Größe 猫.txt', 'Bring AB-12 along.');
    await using rig = await startWith(shelves, [reference], { query: 'Bring AB-12?' });
    const attachments = [
      { type: 'text/plain', title: 'Notiz 猫', data: 'Größe' },
      { title: 'gone', type: 'application/pdf', url: 'files/bucket/gone%20%E7%8C%AB.pdf' },
      { index: 2, type: 'text/plain', data: '' },
    ];
    const asking = { role: 'user', content: 'What?', custom_content: { attachments } };
    const answered = await rig.chat([asking]);
    expect(answered.status).toBe(200);
    expect(JSON.stringify(rig.sent(0))).toContain('Größe');
    expect(toldTo(rig)[0]).toMatch(/^\[1\] Größe 猫\.txt\nBring AB-12 along\./);
    expect(attachmentsOf(answered)).toMatchObject([
      { index: 0, title: 'Größe 猫.txt', reference_url: 'files/bucket/Gr%C3%B6%C3%9Fe%20%E7%8C%AB.txt' },
    ]);
  });
});

describe('an application that a user made', () => {
  it('reads the files of its owner, and nobody else’s', async () => {
    const applications = new MemoryApplicationStore();
    const [owned, foreign] = [getBucket('key:maker'), getBucket('key:test')];
    const references = [
      await shelves.put('mine.txt', 'The owner’s text.', owned),
      await shelves.put('yours.txt', 'Secret of another.', foreign),
    ];
    const entry = quickApp({ document_relative_url: references }) as unknown as ApplicationEntry;
    const id = `applications/${owned}/app`;
    const options = { applications };
    await using rig = await startWith(
      shelves,
      [],
      { query: 'text' },
      { options, configuration: { keys: { maker: { project: 'maker' } } } },
    );
    const made = {
      id,
      owner: 'key:maker',
      entry: { ...entry, features: {}, dependencies: [] } as never,
      etag: 'e',
      createdAtMs: 1,
      updatedAtMs: 1,
    };
    await applications.put(made, undefined);
    const answered = await rig.service.chat(id, { messages: [user('look')] }, { 'api-key': 'maker' });
    expect(answered.status).toBe(200);
    expect(stagesOf(answered)[0]).toMatchObject({ name: references[1], status: 'failed' });
    expect(stagesOf(answered)[0]?.content).toContain('files of its owner');
    expect(toldTo(rig)[0]).toContain('The owner’s text.');
    expect(answered.text).not.toContain('Secret of another');
  });
});

describe('asked before its documents were read, an application', () => {
  it('tells how far it is, waits, and answers', async () => {
    shelves.blobs.hold();
    const references = [await shelves.put('one.txt', 'First text.'), await shelves.put('two.txt', 'Second text.')];
    await using rig = await startWith(shelves, references, { query: 'text' });
    const stream = await rig.service.stream('app', { messages: [user('look')] });
    let event = await stream.next();
    while (event !== undefined && !event.includes('Indexing the documents')) event = await stream.next();
    expect(event).toContain('0 of 2 done, current: one.txt');
    shelves.blobs.release();
    expect((await stream.readRest()).content()).toBe('Done.');
    expect(toldTo(rig)[0]).toContain('Second text.');
  });

  it('goes on reading for others when its caller leaves', async () => {
    shelves.blobs.hold();
    const reference = await shelves.put('one.txt', 'First text.');
    const blob = shelves.files.all[0]?.blob ?? '';
    await using rig = await startWith(shelves, [reference], { query: 'text' });
    const leaving = rig.service.chatAndDisconnect('app', { messages: [user('look')] });
    await until(() => rig.model.requests.length === 1);
    leaving.disconnect();
    await until(() => rig.service.inFlightCalls.size === 0);
    shelves.blobs.release();
    await until(async () => (await shelves.index.findContent(blob)) !== undefined);
    expect(rig.model.requests).toHaveLength(1);
  });
});

describe('a restart', () => {
  it('keeps the index', async () => {
    const reference = await shelves.put('one.txt', 'First text.');
    for (let start = 0; start < 2; start += 1) {
      await using rig = await startWith(shelves, [reference], { query: 'text' });
      await rig.chat('look');
      expect(toldTo(rig)[0]).toContain('First text.');
    }
    expect(shelves.blobs.reads).toHaveLength(1);
  });
});

describe('the configured embedding model', () => {
  const models = { vectors: { type: 'embedding', userRoles: ['nobody has it'], upstreams: [{ protocol: 'demo' }] } };

  it('makes the vectors, as the service itself', async () => {
    const reference = await shelves.put('rooms.md', long.slice(0, 3000));
    const configuration = { models, retrieval: { embeddingModel: 'vectors' } };
    await using rig = await startWith(shelves, [reference], { query: 'room' }, { configuration });
    await rig.chat('look');
    const [file] = shelves.files.all;
    const document = await shelves.findDocument(file?.blob ?? '');
    const key = { document, model: 'vectors vectors' };
    await until(async () => (await shelves.index.countVectors(key)) === (await shelves.index.find(document))?.passages);
    expect(await shelves.index.countVectors({ document, model: 'local:minilm-l6-v2' })).toBe(0);
    const [run] = await shelves.index.vectors(key);
    expect(run?.vectors.length).toBe((run?.count ?? 0) * wordEmbedder.dimensions);
  });

  it('that fails leaves the words', async () => {
    const faults: string[] = [];
    const reference = await shelves.put('rooms.md', long);
    const broken = { vectors: { type: 'embedding', upstreams: [{ endpoint: 'http://127.0.0.1:9/v1' }], maxRetryAttempts: 1 } };
    const configuration = { models: broken, retrieval: { embeddingModel: 'vectors' } };
    const options = { reportError: (message: string) => faults.push(message) };
    const asks = calls(['query_document', { query: 'ZX-1077' }]);
    const replies = [asks, says('Done.'), asks, says('Done.')];
    await using rig = await startWith(shelves, [reference], {}, { configuration, options, replies });
    await rig.chat('look');
    await until(() => faults.some((message) => message.includes('Failed to create vectors with vectors vectors')));
    await rig.chat('look');
    expect(toldTo(rig)[0]).toContain('The code of room 77 is ZX-1077.');
  });
});

describe('a process of its own', () => {
  it('answers from a file that was uploaded, with the model of the demo', async () => {
    const bucket = getBucket('key:test');
    const document_relative_url = `files/${bucket}/travel.docx`;
    await using node = await startProcess({
      configuration: {
        models: { model: { upstreams: [{ protocol: 'demo' }] } },
        applications: { app: quickApp({ document_relative_url }) },
      },
    });
    const paragraphs = ['A room may cost up to 140 euros a night.', 'Trains are preferred for journeys below five hours.'];
    const body = Buffer.from(makeDocument({ file: 'travel.docx', title: 'Travel', parts: [{ heading: 'Hotels', paragraphs }] }));
    const headers = {
      'api-key': 'caller-key',
      'content-type': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    };
    expect((await node.sendRequest({ method: 'PUT', path: `/v1/${document_relative_url}`, headers, body })).status).toBe(200);
    const answered = await node.chat('app', { messages: [user('How much may a hotel room cost?')] });
    expect(answered.completion.choices[0]?.message.content).toContain('140 euros');
    expect(attachmentsOf(answered)).toMatchObject([{ title: 'travel.docx', reference_url: document_relative_url }]);
  }, 60_000);
});
