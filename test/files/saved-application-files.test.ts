import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, chatPath } from '#test/start-service.ts';
import { bucketOfProject } from '../applications/support.ts';
import { type FileService, startFilesOnDisk } from './support.ts';

const maker = bucketOfProject('maker');
const maxBucketBytes = 1000;
let host: ScriptedUpstream;
let files: FileService;

beforeAll(async () => {
  host = await startScriptedUpstream();
  files = await startFilesOnDisk(
    {},
    {
      files: { maxBucketBytes },
      keys: { [callerKey]: { project: 'test' }, 'maker-key': { project: 'maker' } },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
    },
  );
});

afterAll(async () => {
  await files[Symbol.asyncDispose]();
  await host.close();
});

function as(key: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  return sendRequest(files.url, {
    method,
    path,
    headers: { 'api-key': key, ...(body !== undefined && { 'content-type': type }) },
    body,
  });
}

async function saveApp(name: string): Promise<string> {
  const body = { endpoint: `${host.url}/${name}`, userRoles: ['default'] };
  const { status, text } = await as('maker-key', 'PUT', `/v1/applications/${maker}/${name}`, body);
  expect([status, text]).toEqual([201, expect.any(String)]);
  return `applications/${maker}/${name}`;
}

/** Calls the application and runs `work` with its per-request key during the call. */
async function call<Done>(id: string, work: (key: string) => Promise<Done>): Promise<Done> {
  let done: Promise<Done> | undefined;
  host.script(async (answering) => {
    done = work(String(answering.received.headers['api-key']));
    await done.catch(() => undefined);
    await jsonReply(plainCompletion('done'))(answering);
  });
  const answer = await as(callerKey, 'POST', chatPath(id), { messages: hello });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return done ?? expect.unreachable();
}

/** Stores a text with `chars` characters as the application. Returns the response status and the path of the file. */
async function store(id: string, name: string, chars = 10): Promise<{ status: number; path: string }> {
  return call(id, async (key) => {
    const { bucket } = (await as(key, 'GET', '/v1/bucket')).json as { bucket: string };
    const path = `/v1/files/${bucket}/${name}`;
    return { status: (await as(key, 'PUT', path, 'x'.repeat(chars))).status, path };
  });
}

async function listed(): Promise<readonly string[]> {
  const { json } = await as('maker-key', 'GET', `/v1/metadata/files/${maker}/?recursive=true`);
  return (json as { items: { url: string }[] }).items.map(({ url }) => `/v1/${url}`);
}

describe('the files of a saved application', () => {
  it('can be listed, read, and deleted by the owner, and by no other user', async () => {
    const { status, path } = await store(await saveApp('notes'), 'x');
    expect([status, await listed()]).toEqual([200, [path]]);
    expect((await as('maker-key', 'GET', path)).text).toBe('x'.repeat(10));
    expect((await as(callerKey, 'GET', path)).status).toBe(403);
    expect((await as('maker-key', 'DELETE', path)).status).toBe(204);
  });

  it('count toward the quota of the owner', async () => {
    const id = await saveApp('large');
    expect((await as('maker-key', 'PUT', `/v1/files/${maker}/own`, 'x'.repeat(600))).status).toBe(200);
    expect((await store(id, 'x', 500)).status).toBe(413);
    expect((await store(id, 'x', 300)).status).toBe(200);
    expect((await as('maker-key', 'PUT', `/v1/files/${maker}/more`, 'x'.repeat(200))).status).toBe(413);
    for (const path of await listed()) await as('maker-key', 'DELETE', path);
  });

  it('grant full access to the application for every caller, and none to other applications of the owner', async () => {
    const [one, nested, other] = [await saveApp('a'), await saveApp('a/b'), await saveApp('c')];
    const { path } = await store(nested, 'x');
    const access = (id: string) =>
      call(id, async (key) => [
        (await as(key, 'GET', path)).status,
        (await as(key, 'PUT', path, 'y')).status,
        (await as(key, 'GET', `/v1/metadata${path.slice(3, path.lastIndexOf('/') + 1)}`)).status,
      ]);
    expect(await access(nested)).toEqual([200, 200, 200]);
    expect(await access(one)).toEqual([403, 403, 403]);
    expect(await access(other)).toEqual([403, 403, 403]);
    const makers = await call(nested, async (key) => (await as(key, 'GET', `/v1/metadata/files/${maker}/`)).status);
    expect(makers).toBe(403);
  });

  it('are deleted with the application, while files of other applications remain', async () => {
    const [gone, stays] = [await saveApp('gone'), await saveApp('gone/stays')];
    const { path } = await store(gone, 'deep/x');
    const { path: kept } = await store(stays, 'x');
    expect((await as('maker-key', 'DELETE', `/v1/${gone}`)).status).toBe(204);
    const left = await listed();
    expect(left).toContain(kept);
    expect(left).not.toContain(path);
    expect(files.index.all.map(({ bucket }) => bucket).filter((bucket) => bucket !== maker)).toEqual([]);
  });

  it('are deleted if the application moves to another ID', async () => {
    const { path } = await store(await saveApp('before'), 'x');
    expect(await listed()).toContain(path);
    const body = { sourceUrl: `applications/${maker}/before`, destinationUrl: `applications/${maker}/after` };
    expect((await as('maker-key', 'POST', '/v1/ops/resource/move', body)).status).toBe(200);
    expect(await listed()).not.toContain(path);
  });
});
