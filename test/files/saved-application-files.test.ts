import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, getChatPath } from '#test/start-service.ts';
import { getProjectBucket } from '../applications/support.ts';
import { type FileService, startFilesOnDisk } from './support.ts';

const ownerBucket = getProjectBucket('maker');
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

function sendAs(key: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
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
  const { status, text } = await sendAs('maker-key', 'PUT', `/v1/applications/${ownerBucket}/${name}`, body);
  expect([status, text]).toEqual([201, expect.any(String)]);
  return `applications/${ownerBucket}/${name}`;
}

/** Calls the application and runs `work` with its per-request key during the call. */
async function call<Result>(id: string, work: (key: string) => Promise<Result>): Promise<Result> {
  let result: Promise<Result> | undefined;
  host.script(async (exchange) => {
    result = work(String(exchange.received.headers['api-key']));
    await result.catch(() => undefined);
    await jsonReply(plainCompletion('done'))(exchange);
  });
  const answer = await sendAs(callerKey, 'POST', getChatPath(id), { messages: hello });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return result ?? expect.unreachable();
}

/** Stores a text of this length as the application. Returns the response status and the path of the file. */
async function store(id: string, name: string, chars = 10): Promise<{ status: number; path: string }> {
  return call(id, async (key) => {
    const { bucket } = (await sendAs(key, 'GET', '/v1/bucket')).json as { bucket: string };
    const path = `/v1/files/${bucket}/${name}`;
    return { status: (await sendAs(key, 'PUT', path, 'x'.repeat(chars))).status, path };
  });
}

async function listPaths(): Promise<readonly string[]> {
  const { json } = await sendAs('maker-key', 'GET', `/v1/metadata/files/${ownerBucket}/?recursive=true`);
  return (json as { items: { url: string }[] }).items.map(({ url }) => `/v1/${url}`);
}

describe('the files of a saved application', () => {
  it('can be listed, read, and deleted by the owner, and by no other user', async () => {
    const { status, path } = await store(await saveApp('notes'), 'x');
    expect([status, await listPaths()]).toEqual([200, [path]]);
    expect((await sendAs('maker-key', 'GET', path)).text).toBe('x'.repeat(10));
    expect((await sendAs(callerKey, 'GET', path)).status).toBe(403);
    expect((await sendAs('maker-key', 'DELETE', path)).status).toBe(204);
  });

  it('count toward the quota of the owner', async () => {
    const id = await saveApp('large');
    expect((await sendAs('maker-key', 'PUT', `/v1/files/${ownerBucket}/own`, 'x'.repeat(600))).status).toBe(200);
    expect((await store(id, 'x', 500)).status).toBe(413);
    expect((await store(id, 'x', 300)).status).toBe(200);
    expect((await sendAs('maker-key', 'PUT', `/v1/files/${ownerBucket}/more`, 'x'.repeat(200))).status).toBe(413);
    for (const path of await listPaths()) await sendAs('maker-key', 'DELETE', path);
  });

  it('grant full access to the application for every caller, and none to other applications of the owner', async () => {
    const [outer, nested, otherApp] = [await saveApp('a'), await saveApp('a/b'), await saveApp('c')];
    const { path } = await store(nested, 'x');
    const access = (id: string) =>
      call(id, async (key) => [
        (await sendAs(key, 'GET', path)).status,
        (await sendAs(key, 'PUT', path, 'y')).status,
        (await sendAs(key, 'GET', `/v1/metadata${path.slice(3, path.lastIndexOf('/') + 1)}`)).status,
      ]);
    expect(await access(nested)).toEqual([200, 200, 200]);
    expect(await access(outer)).toEqual([403, 403, 403]);
    expect(await access(otherApp)).toEqual([403, 403, 403]);
    const ownerStatus = await call(
      nested,
      async (key) => (await sendAs(key, 'GET', `/v1/metadata/files/${ownerBucket}/`)).status,
    );
    expect(ownerStatus).toBe(403);
  });

  it('are deleted with the application, while files of other applications remain', async () => {
    const [deletedApp, remainingApp] = [await saveApp('gone'), await saveApp('gone/stays')];
    const { path } = await store(deletedApp, 'deep/x');
    const { path: remainingPath } = await store(remainingApp, 'x');
    expect((await sendAs('maker-key', 'DELETE', `/v1/${deletedApp}`)).status).toBe(204);
    const remainingPaths = await listPaths();
    expect(remainingPaths).toContain(remainingPath);
    expect(remainingPaths).not.toContain(path);
    expect(files.index.all.map(({ bucket }) => bucket).filter((bucket) => bucket !== ownerBucket)).toEqual([]);
  });

  it('are deleted if the application moves to another ID', async () => {
    const { path } = await store(await saveApp('before'), 'x');
    expect(await listPaths()).toContain(path);
    const body = { sourceUrl: `applications/${ownerBucket}/before`, destinationUrl: `applications/${ownerBucket}/after` };
    expect((await sendAs('maker-key', 'POST', '/v1/ops/resource/move', body)).status).toBe(200);
    expect(await listPaths()).not.toContain(path);
  });
});
