import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { getBucket } from '#test/buckets.ts';
import { MemoryApplicationStore } from '#test/memory-application-store.ts';
import { startProcess } from '#test/start-process.ts';
import { createStoreError } from '#test/store-error.ts';
import { makeDocument } from '../../bench/retrieval/make/make-document.ts';
import { makePdf } from '../../bench/retrieval/make/make-pdf.ts';
import { calls, getStages, getToolMessages, quickApp, says, user } from '../quick-apps/support.ts';
import { waitUntil } from './library.ts';
import { getAttachments, startWith, TestFiles } from './rig.ts';
import { createHeldEmbedder, wordEmbedder } from './word-embedder.ts';

const pages = [
  [{ text: 'The mill was built by monks in 1283.', size: 11 }],
  [{ text: 'The weavers came in 1846 with forty looms.', size: 11 }],
];
/** A document that is too long to be shown in full. Each section has three passages. */
const long = Array.from({ length: 120 }, (_, nth) => {
  const filler = 'Some words that fill the passage up to its end and say nothing of importance to anybody. '.repeat(5);
  return `## Section ${nth}\n\n${filler}\n\nThe code of room ${nth} is ZX-${1000 + nth}.\n\n${filler}`;
}).join('\n\n');

let testFiles: TestFiles;

beforeEach(async () => {
  testFiles = await TestFiles.open();
});

afterEach(() => testFiles[Symbol.asyncDispose]());

describe('small documents of a quick app', () => {
  it('are given to the model in full, and cited passages to the user with their page', async () => {
    const references = [
      await testFiles.put('history.pdf', makePdf(pages)),
      await testFiles.put('notes/a.txt', 'Bring AB-12 along.'),
    ];
    await using rig = await startWith(testFiles, references, { query: 'Who built the mill?' });
    const response = await rig.chat('Who built the mill?');
    expect(rig.offered(0).map(({ function: { name } }) => name)).toEqual(['query_document']);
    expect(rig.offered(0)[0]?.function.description).toContain('history.pdf, a.txt');
    const result = getToolMessages(rig)[0] ?? '';
    expect(result).toMatch(/^\[1\] history\.pdf, page 1\nThe mill was built by monks in 1283\./);
    expect(result).toContain('history.pdf, page 2\nThe weavers came in 1846 with forty looms.');
    expect(result).toContain('a.txt\nBring AB-12 along.');
    expect(result).toContain('such as [1]');
    expect(getAttachments(response)[0]).toEqual({
      index: 0,
      type: 'text/markdown',
      title: 'history.pdf, p. 1',
      data: 'The mill was built by monks in 1283.',
      reference_type: 'text/plain',
      reference_url: 'files/bucket/history.pdf#page=1',
    });
    const [stage] = getStages(response);
    expect(stage).toMatchObject({ name: 'query_document', status: 'completed' });
    expect(stage?.attachments?.[0]).toMatchObject({ title: 'history.pdf, p. 1' });
    expect(response.completion.choices[0]?.message.content).toBe('Done.');
  });

  it('can be selected by name', async () => {
    const references = [
      await testFiles.put('a/same.txt', 'first'),
      await testFiles.put('b/same.txt', 'second'),
      await testFiles.put('c.txt', 'third'),
    ];
    const replies = [
      calls(
        ['query_document', { query: 'x', files: ['A/SAME.txt'] }],
        ['query_document', { query: 'x', files: 'c.txt' }],
        ['query_document', { query: 'x', files: ['d.txt'] }],
        ['query_document', { files: [] }],
      ),
      says('Done.'),
    ];
    await using rig = await startWith(testFiles, references, {}, { replies });
    const response = await rig.chat('look');
    const [one, two, three, four] = getToolMessages(rig);
    expect(one).toContain('a/same.txt\nfirst');
    expect(one).not.toContain('second');
    expect(two).toContain('third');
    expect(two).not.toContain('first');
    expect(three).toContain('There is no document named d.txt');
    expect(three).toContain('a/same.txt, b/same.txt, c.txt');
    expect(four).toContain("arguments must have required property 'query'");
    expect(getStages(response).map(({ status }) => status)).toEqual(['completed', 'completed', 'failed', 'failed']);
  });
});

describe('large documents of a quick app', () => {
  it('are searched, and the model receives numbered passages', async () => {
    const reference = await testFiles.put('rooms.md', long);
    await using rig = await startWith(testFiles, [reference], { query: 'code ZX-1077' });
    const response = await rig.chat('What is ZX-1077?');
    const result = getToolMessages(rig)[0] ?? '';
    expect(result).toMatch(/^\[1\] rooms\.md — Section 0 › Section 77\n|^\[1\] rooms\.md — Section 77\n/);
    expect(result).toContain('The code of room 77 is ZX-1077.');
    expect(result.match(/^\[\d+\]/gm)?.length).toBeLessThanOrEqual(12);
    expect(result.length).toBeLessThan(20_000);
    const [first, ...rest] = getStages(response)[0]?.attachments ?? [];
    expect(first).toMatchObject({ title: 'rooms.md', reference_url: 'files/bucket/rooms.md' });
    expect(first?.data).toContain('ZX-1077');
    expect(rest.length + 1).toBe(result.match(/^\[\d+\]/gm)?.length);
    expect(getAttachments(response)).toEqual([first]);
  });

  it('include documents with many small passages', async () => {
    const reference = await testFiles.put(
      'rooms.md',
      Array.from({ length: 150 }, (_, nth) => `# Room ${nth}\n\nkey ${nth}`).join('\n\n'),
    );
    await using rig = await startWith(testFiles, [reference], { query: 'room 77' });
    const response = await rig.chat('Room 77?');
    expect(getToolMessages(rig)[0]).toContain('key 77');
    expect(getStages(response)[0]?.attachments?.length).toBeLessThanOrEqual(12);
  });

  it('are searched after their vectors are ready, with progress in a stage', async () => {
    const reference = await testFiles.put('rooms.md', long);
    const { embedder, release } = createHeldEmbedder();
    await using rig = await startWith(testFiles, [reference], { query: 'code ZX-1077' }, { options: { embedder } });
    const stream = await rig.service.stream('app', { messages: [user('What is ZX-1077?')] });
    let output = '';
    for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
      output += JSON.stringify(event);
      if (/Preparing the search by meaning: 0 of \d+ passages\./.test(output)) release();
    }
    expect(getToolMessages(rig)[0]).not.toContain('Searched by words only');
  });

  it('are searched by words if vectors cannot be created, with a note to the model', async () => {
    const reference = await testFiles.put('rooms.md', long);
    const { embedder, fail } = createHeldEmbedder();
    fail();
    await using rig = await startWith(testFiles, [reference], { query: 'code ZX-1077' }, { options: { embedder } });
    await rig.chat('What is ZX-1077?');
    expect(getToolMessages(rig)[0]).toContain('Note: Searched by words only');
    expect(getToolMessages(rig)[0]).toContain('ZX-1077');
  });

  it('return passages within the configured count, score, and size', async () => {
    const reference = await testFiles.put('rooms.md', long);
    const search = async (retrieval: object, query: string) => {
      await using rig = await startWith(testFiles, [reference], { query }, { app: { retrieval } });
      await rig.chat(query);
      return { result: getToolMessages(rig)[0] ?? '', count: getToolMessages(rig)[0]?.match(/^\[\d+\]/gm)?.length ?? 0 };
    };
    const many = await search({}, 'What is the code of the room?');
    const few = await search({ passages: 2 }, 'What is the code of the room?');
    const none = await search({ minScore: 1 }, 'Which giraffe has the code of the room?');
    const short = await search({ maxBytes: 2000 }, 'What is the code of the room?');
    expect([many.count, few.count, none.count]).toEqual([12, 2, 0]);
    expect(none.result).toMatch(/^Nothing in the documents fits this question\./);
    expect(Buffer.byteLength(short.result)).toBeLessThanOrEqual(2000);
  });

  it('return no passages without a relevant match', async () => {
    const reference = await testFiles.put('rooms.md', long);
    await using rig = await startWith(testFiles, [reference], { query: 'giraffe' });
    const response = await rig.chat('giraffes?');
    expect(getToolMessages(rig)[0]).toMatch(/^Nothing in the documents fits this question\./);
    expect(getAttachments(response)).toEqual([]);
  });

  it('return no more than the maximum size of tool results', async () => {
    const reference = await testFiles.put('rooms.md', long);
    const configuration = { tools: { maxResultBytes: 3000 } };
    await using rig = await startWith(testFiles, [reference], { query: 'words of room 77' }, { configuration });
    await rig.chat('look');
    const result = getToolMessages(rig)[0] ?? '';
    expect(Buffer.byteLength(result)).toBeLessThanOrEqual(3000);
    expect(result).not.toContain('[Truncated');
    expect(result).toMatch(/^\[1\]/);
  });
});

describe('an unavailable document of a quick app', () => {
  it('is reported in the first stage, and the remaining documents are used', async () => {
    const references = ['files/bucket/gone%20away.txt', await testFiles.put('here.txt', 'I am here.'), 'files/bucket/../x'];
    await using rig = await startWith(testFiles, references, { query: 'who' });
    const response = await rig.chat('look');
    const [first, second, third] = getStages(response);
    expect(first).toMatchObject({ name: 'files/bucket/gone%20away.txt', status: 'failed' });
    expect(first?.content).toBe('No file is stored at this path. It may have been moved or deleted.');
    expect(second).toMatchObject({ name: 'files/bucket/../x', status: 'failed' });
    expect(third).toMatchObject({ name: 'query_document', status: 'completed' });
    expect(getToolMessages(rig)[0]).toContain('I am here.');
  });

  it('does not prevent an answer if it is the only document', async () => {
    await using rig = await startWith(testFiles, ['files/bucket/gone.txt'], {}, { replies: [says('Hello.')] });
    const response = await rig.chat('hello');
    expect(getStages(response)).toMatchObject([{ status: 'failed' }]);
    expect(rig.offered()).toEqual([]);
    expect(response.completion.choices[0]?.message.content).toBe('Hello.');
  });

  it('is reported to the model and the user if it is damaged', async () => {
    const references = [await testFiles.put('broken.pdf', '%PDF-1.7 oh'), await testFiles.put('good.txt', 'All is well.')];
    await using rig = await startWith(testFiles, references, { query: 'how is it?' });
    const response = await rig.chat('look');
    expect(getToolMessages(rig)[0]).toContain('All is well.');
    const note = 'Note: broken.pdf cannot be read. The file is damaged: it cannot be read as PDF.';
    expect(getToolMessages(rig)[0]).toContain(note);
    expect(getStages(response)[0]?.content).toContain(note);
  });

  it('fails the search stage if all documents are unreadable', async () => {
    await using rig = await startWith(testFiles, [await testFiles.put('empty.txt', '')], { query: 'how is it?' });
    const response = await rig.chat('look');
    expect(getStages(response)).toMatchObject([{ name: 'query_document', status: 'failed' }]);
    expect(getToolMessages(rig)[0]).toBe('empty.txt cannot be read. It is empty: there is no text in it.');
  });

  it('is reported if its file is deleted after the application resolved it', async () => {
    const references = [await testFiles.put('Größe 猫.txt', 'Text.'), await testFiles.put('good.txt', 'All is well.')];
    testFiles.blobs.contents.delete(testFiles.files.all[0]?.blob ?? '');
    await using rig = await startWith(testFiles, references, { query: 'how is it?' });
    await rig.chat('look');
    const expectedNote = 'Note: Größe 猫.txt cannot be read. It was deleted or replaced while it was to be read.';
    expect(getToolMessages(rig)[0]).toContain(expectedNote);
    expect(getToolMessages(rig)[0]).toContain('All is well.');
  });

  it('is reported in a failed stage if the file store is unavailable or not configured', async () => {
    const reference = await testFiles.put('a.txt', 'text');
    const unavailable = { findAll: () => Promise.reject(createStoreError('gone')) } as never;
    const options = { files: { index: unavailable, blobs: testFiles.blobs } };
    await using rig = await startWith(testFiles, [reference], {}, { replies: [says('Hello.')], options });
    expect(getStages(await rig.chat('hello'))).toMatchObject([
      { name: 'Documents', status: 'failed', content: 'The index of stored files is unavailable. Try again later.' },
    ]);
    const none = { files: undefined, passages: undefined } as never;
    await using bare = await startWith(testFiles, [reference], {}, { replies: [says('Hello.')], options: none });
    expect(getStages(await bare.chat('hello'))).toMatchObject([{ name: 'Documents', content: 'No files are stored here.' }]);
  });
});

describe('an attachment of the user', () => {
  it('is sent to the model unchanged and does not affect the documents', async () => {
    const reference = await testFiles.put('Größe 猫.txt', 'Bring AB-12 along.');
    await using rig = await startWith(testFiles, [reference], { query: 'Bring AB-12?' });
    const attachments = [
      { type: 'text/plain', title: 'Notiz 猫', data: 'Größe' },
      { title: 'gone', type: 'application/pdf', url: 'files/bucket/gone%20%E7%8C%AB.pdf' },
      { index: 2, type: 'text/plain', data: '' },
    ];
    const userMessage = { role: 'user', content: 'What?', custom_content: { attachments } };
    const response = await rig.chat([userMessage]);
    expect(response.status).toBe(200);
    expect(JSON.stringify(rig.sent(0))).toContain('Größe');
    expect(getToolMessages(rig)[0]).toMatch(/^\[1\] Größe 猫\.txt\nBring AB-12 along\./);
    expect(getAttachments(response)).toMatchObject([
      { index: 0, title: 'Größe 猫.txt', reference_url: 'files/bucket/Gr%C3%B6%C3%9Fe%20%E7%8C%AB.txt' },
    ]);
  });
});

describe('an application that a user saved', () => {
  it('reads only files of its owner', async () => {
    const applications = new MemoryApplicationStore();
    const [owned, foreign] = [getBucket('key:maker'), getBucket('key:test')];
    const references = [
      await testFiles.put('mine.txt', 'The owner’s text.', owned),
      await testFiles.put('yours.txt', 'Secret of another.', foreign),
    ];
    const entry = quickApp({ document_relative_url: references }) as unknown as ApplicationEntry;
    const id = `applications/${owned}/app`;
    const options = { applications };
    await using rig = await startWith(
      testFiles,
      [],
      { query: 'text' },
      { options, configuration: { keys: { maker: { project: 'maker' } } } },
    );
    const savedApplication = {
      id,
      owner: 'key:maker',
      entry: { ...entry, features: {}, dependencies: [] } as never,
      etag: 'e',
      createdAtMs: 1,
      updatedAtMs: 1,
    };
    await applications.put(savedApplication, undefined);
    const response = await rig.service.chat(id, { messages: [user('look')] }, { 'api-key': 'maker' });
    expect(response.status).toBe(200);
    expect(getStages(response)[0]).toMatchObject({ name: references[1], status: 'failed' });
    expect(getStages(response)[0]?.content).toContain('files of its owner');
    expect(getToolMessages(rig)[0]).toContain('The owner’s text.');
    expect(response.text).not.toContain('Secret of another');
  });
});

describe('an application whose documents are not indexed yet', () => {
  it('reports progress, waits, and answers', async () => {
    testFiles.blobs.hold();
    const references = [await testFiles.put('one.txt', 'First text.'), await testFiles.put('two.txt', 'Second text.')];
    await using rig = await startWith(testFiles, references, { query: 'text' });
    const stream = await rig.service.stream('app', { messages: [user('look')] });
    let event = await stream.next();
    while (event !== undefined && !event.includes('Indexing the documents')) event = await stream.next();
    expect(event).toContain('0 of 2 done, current: one.txt');
    testFiles.blobs.release();
    expect((await stream.readRest()).content()).toBe('Done.');
    expect(getToolMessages(rig)[0]).toContain('Second text.');
  });

  it('continues to read documents after the client disconnects', async () => {
    testFiles.blobs.hold();
    const reference = await testFiles.put('one.txt', 'First text.');
    const blob = testFiles.files.all[0]?.blob ?? '';
    await using rig = await startWith(testFiles, [reference], { query: 'text' });
    const abandonedCall = rig.service.chatAndDisconnect('app', { messages: [user('look')] });
    await waitUntil(() => rig.model.requests.length === 1);
    abandonedCall.disconnect();
    await waitUntil(() => rig.service.inFlightCalls.size === 0);
    testFiles.blobs.release();
    await waitUntil(async () => (await testFiles.index.findContent(blob)) !== undefined);
    expect(rig.model.requests).toHaveLength(1);
  });
});

describe('a restart of the service', () => {
  it('keeps the document index', async () => {
    const reference = await testFiles.put('one.txt', 'First text.');
    for (let start = 0; start < 2; start += 1) {
      await using rig = await startWith(testFiles, [reference], { query: 'text' });
      await rig.chat('look');
      expect(getToolMessages(rig)[0]).toContain('First text.');
    }
    expect(testFiles.blobs.reads).toHaveLength(1);
  });
});

describe('the configured embedding model', () => {
  const models = { vectors: { type: 'embedding', userRoles: ['nobody has it'], upstreams: [{ protocol: 'demo' }] } };

  it('creates the vectors with the identity of the service', async () => {
    const reference = await testFiles.put('rooms.md', long.slice(0, 3000));
    const configuration = { models, retrieval: { embeddingModel: 'vectors' } };
    await using rig = await startWith(testFiles, [reference], { query: 'room' }, { configuration });
    await rig.chat('look');
    const [file] = testFiles.files.all;
    const document = await testFiles.findDocument(file?.blob ?? '');
    const key = { document, model: 'vectors vectors' };
    await waitUntil(
      async () => (await testFiles.index.countVectors(key)) === (await testFiles.index.find(document))?.passageCount,
    );
    expect(await testFiles.index.countVectors({ document, model: 'local:minilm-l6-v2' })).toBe(0);
    const [run] = await testFiles.index.readVectors(key);
    expect(run?.vectors.length).toBe((run?.count ?? 0) * wordEmbedder.dimensions);
  });

  it('does not prevent a search by words if it fails', async () => {
    const errors: string[] = [];
    const reference = await testFiles.put('rooms.md', long);
    const broken = { vectors: { type: 'embedding', upstreams: [{ endpoint: 'http://127.0.0.1:9/v1' }], maxRetryAttempts: 1 } };
    const configuration = { models: broken, retrieval: { embeddingModel: 'vectors' } };
    const options = { reportError: (message: string) => errors.push(message) };
    const searchCall = calls(['query_document', { query: 'ZX-1077' }]);
    const replies = [searchCall, says('Done.'), searchCall, says('Done.')];
    await using rig = await startWith(testFiles, [reference], {}, { configuration, options, replies });
    await rig.chat('look');
    await waitUntil(() => errors.some((message) => message.includes('failed to create vectors with vectors vectors')));
    await rig.chat('look');
    expect(getToolMessages(rig)[0]).toContain('The code of room 77 is ZX-1077.');
  });
});

describe('a separate service process', () => {
  it('answers from an uploaded file with the demo model', async () => {
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
    const response = await node.chat('app', { messages: [user('How much may a hotel room cost?')] });
    expect(response.completion.choices[0]?.message.content).toContain('140 euros');
    expect(getAttachments(response)).toMatchObject([{ title: 'travel.docx', reference_url: document_relative_url }]);
  });
});
