import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestResponse } from '#test/send-request.ts';
import { startProcess } from '#test/start-process.ts';
import { type ServiceOptions, startService, type TestService } from '#test/start-service.ts';
import { createStoreError } from '#test/store-error.ts';
import { makePdf } from '../../bench/retrieval/make/make-pdf.ts';
import { getApplicationPath, ownBucket, quickApp, save, show } from '../applications/support.ts';
import { waitUntil } from './library.ts';
import { TestFiles } from './rig.ts';

const models = { demo: { upstreams: [{ protocol: 'demo' }] } };

interface ListedDocument {
  readonly name: string;
  readonly state: string;
  readonly [field: string]: unknown;
}

let testFiles: TestFiles;
let service: TestService;
let errors: string[];

async function start(options: ServiceOptions = {}, configuration: object = {}): Promise<void> {
  const recordError = (message: string): number => errors.push(message);
  service = await startService({ models, ...configuration }, { ...testFiles.options, reportError: recordError, ...options });
}

beforeEach(async () => {
  errors = [];
  testFiles = await TestFiles.open();
});

afterEach(async () => {
  testFiles.blobs.release();
  await service?.close();
  await testFiles[Symbol.asyncDispose]();
});

function saveWith(references: readonly string[]): Promise<TestResponse> {
  return save(service, getApplicationPath('app'), quickApp({ document_relative_url: references }));
}

function requestProgress(id = `applications/${ownBucket}/app`, key?: string): Promise<TestResponse> {
  return show(service, `/v1/deployments/${id}/documents`, key);
}

async function listDocuments(id?: string, key?: string): Promise<readonly ListedDocument[]> {
  const { status, json } = await requestProgress(id, key);
  expect(status).toBe(200);
  return (json as { data: ListedDocument[] }).data;
}

async function getStates(): Promise<string[]> {
  return (await listDocuments()).map(({ state }) => state);
}

const getBlob = (nth: number): string => testFiles.files.all[nth]?.blob ?? '';

describe('saving an application', () => {
  it('starts to index its documents and does not wait for the result', async () => {
    await start();
    testFiles.blobs.hold();
    const references = [
      await testFiles.put('a.txt', 'First text.', ownBucket),
      await testFiles.put('b.txt', 'Second.', ownBucket),
    ];
    expect((await saveWith(references)).status).toBe(201);
    await waitUntil(async () => (await getStates())[0] === 'indexing');
    expect(await listDocuments()).toEqual([
      {
        name: 'a.txt',
        reference: references[0],
        state: 'indexing',
        searchable: false,
        reason: null,
        passages: { done: 0, total: null },
      },
      {
        name: 'b.txt',
        reference: references[1],
        state: 'waiting',
        searchable: false,
        reason: null,
        passages: { done: 0, total: null },
      },
    ]);
    testFiles.blobs.release();
    await waitUntil(async () => (await getStates()).every((state) => state === 'ready'));
    expect((await listDocuments())[1]).toMatchObject({ searchable: true, passages: { done: 1, total: 1 } });
    expect(testFiles.blobs.reads).toEqual([getBlob(0), getBlob(1)]);
  });

  it('indexes its documents even if no client requests the progress', async () => {
    await start();
    const reference = await testFiles.put('a.txt', 'First text.', ownBucket);
    await saveWith([reference]);
    await waitUntil(async () => (await testFiles.index.findContent(getBlob(0))) !== undefined);
  });

  it('succeeds if the file index is unavailable, and a later progress request starts the indexing', async () => {
    let isUnavailable = true;
    const { files, blobs } = testFiles;
    const unreliable = {
      find: async (bucket: string, path: string) =>
        isUnavailable ? Promise.reject(createStoreError('gone')) : files.find(bucket, path),
      findAll: async (locations: Parameters<typeof files.findAll>[0]) =>
        isUnavailable ? Promise.reject(createStoreError('gone')) : files.findAll(locations),
    };
    await start({ files: { index: unreliable as never, blobs } });
    const reference = await testFiles.put('a.txt', 'First text.', ownBucket);
    expect((await saveWith([reference])).status).toBe(201);
    await waitUntil(() => errors.includes('cannot index documents in advance'));
    expect((await requestProgress()).status).toBe(503);
    isUnavailable = false;
    await waitUntil(async () => (await getStates())[0] === 'ready');
  });
});

describe('the documents endpoint of an application', () => {
  it('returns the reason for each failed document', async () => {
    await start();
    const references = [
      await testFiles.put('broken.pdf', '%PDF-1.7 oh', ownBucket),
      await testFiles.put('scanned.pdf', makePdf([[], []]), ownBucket),
      await testFiles.put('Größe 猫.txt', 'Text.', ownBucket),
      await testFiles.put('gone away 猫.txt', 'Text.', ownBucket),
    ];
    expect((await saveWith(references)).status).toBe(201);
    await testFiles.files.delete(ownBucket, 'gone away 猫.txt', undefined);
    await waitUntil(async () => (await getStates()).every((state) => state === 'ready' || state === 'failed'));
    expect((await listDocuments()).map(({ name, state, reason }) => [name, state, reason])).toEqual([
      ['broken.pdf', 'failed', 'The file is damaged: it cannot be read as PDF.'],
      ['scanned.pdf', 'failed', 'It has no text. It seems to be scanned, and Parley does not read text in images.'],
      ['Größe 猫.txt', 'ready', null],
      ['gone away 猫.txt', 'failed', 'No file is stored at this path. It may have been moved or deleted.'],
    ]);
  });

  it('lists documents for all users of the application, and file references only for its owner and administrators', async () => {
    const keys = {
      'caller-key': { project: 'test' },
      staff: { project: 'staff', role: 'staff' },
      admin: { project: 'admin', roles: ['staff', 'admin'] },
      stranger: { project: 'stranger' },
    };
    await start({}, { keys });
    const reference = await testFiles.put('a.txt', 'Text.', ownBucket);
    await save(service, getApplicationPath('app'), quickApp({ document_relative_url: [reference] }, { userRoles: ['staff'] }));
    const id = `applications/${ownBucket}/app`;
    expect((await listDocuments(id))[0]?.reference).toBe(reference);
    expect((await listDocuments(id, 'admin'))[0]?.reference).toBe(reference);
    expect(Object.keys((await listDocuments(id, 'staff'))[0] ?? {})).toEqual([
      'name',
      'state',
      'searchable',
      'reason',
      'passages',
    ]);
    expect((await requestProgress(id, 'stranger')).status).toBe(403);
    expect((await requestProgress(`${id}/x`)).status).toBe(404);
    expect((await requestProgress(id, 'unknown')).status).toBe(401);
  });

  it('returns an empty list for a deployment without documents', async () => {
    await start();
    expect((await requestProgress('demo')).json).toEqual({ object: 'list', data: [] });
  });

  it('reports documents as ready after a restart without reading them again', async () => {
    await start();
    const reference = await testFiles.put('a.txt', 'Text.', ownBucket);
    await saveWith([reference]);
    await waitUntil(async () => (await getStates())[0] === 'ready');
    await service.close();
    await start();
    await saveWith([reference]);
    expect(await getStates()).toEqual(['ready']);
    expect(testFiles.blobs.reads).toHaveLength(1);
  });
});

describe('a running node', () => {
  it('indexes the documents of configured applications at startup and after a reload', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'parley-progress-'));
    const flags = ['--data', folder.path];
    const getFileReference = (name: string) => `files/${ownBucket}/${name}`;
    const createApp = (...names: string[]) => quickApp({ document_relative_url: names.map(getFileReference) });
    const countIndexed = () => countDocuments(join(folder.path, 'parley.db'));
    {
      await using node = await startProcess({ configuration: { models }, flags });
      for (const name of ['one.txt', 'two.md']) {
        const body = Array.from({ length: 60 }, (_, nth) => `# Part ${nth}\n\n${name} ${nth}`).join('\n\n');
        const request = { method: 'PUT', path: `/v1/${getFileReference(name)}`, headers: { 'api-key': 'caller-key' }, body };
        expect((await node.sendRequest(request)).status).toBe(200);
      }
      await node.configure({ models, applications: { app: createApp('one.txt') } });
      await waitUntil(() => countIndexed() > 0);
    }
    const indexedBefore = countIndexed();
    await using node = await startProcess({ configuration: { models, applications: { app: createApp('two.md') } }, flags });
    await waitUntil(() => countIndexed() > indexedBefore);
    node.kill('SIGTERM');
    expect(await node.ended).toMatchObject({ code: 0 });
    expect(node.output.stdout + node.output.stderr).not.toMatch(/"level":"error"/);
  });
});

/** Returns the number of completely indexed documents in the database of a node. */
function countDocuments(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare('select count(*) as count from indexed_documents where is_whole = 1').get();
  database.close();
  return Number(row?.count);
}
