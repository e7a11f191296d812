import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { freshSqlite } from '#test/sql-engines.ts';
import { createApplicationStore, createFileIndex } from '#test/sql-stores.ts';
import { type TestService, withKey } from '#test/start-service.ts';
import { accept, deleteConsent, isAccepted } from '../consent/support.ts';
import { openStore, startFiles } from '../files/support.ts';
import { getApplicationPath, ownBucket, quickApp, remove, save, show } from './support.ts';

let service: TestService;
const disposers: (() => PromiseLike<unknown>)[] = [];

beforeAll(async () => {
  const sqlite = await freshSqlite();
  const { database, close } = await sqlite.open();
  const applications = createApplicationStore(database);
  const upstream = await startScriptedUpstream(jsonReply(plainCompletion('Hello.')));
  const models = { demo: { upstreams: [{ endpoint: `${upstream.url}/v1`, key: 'k' }] } };
  const store = await openStore('disk');
  const { blobs } = store;
  const files = await startFiles({ blobs, index: createFileIndex(database) }, { models }, { applications });
  service = files.service;
  disposers.push(() => files[Symbol.asyncDispose](), close);
  disposers.push(
    () => sqlite[Symbol.asyncDispose](),
    () => store[Symbol.asyncDispose](),
    () => upstream.close(),
  );
});

afterAll(async () => {
  for (const close of disposers) await close();
});

interface IdList {
  readonly data: readonly { readonly id: string }[];
}

/** The path as sent, another encoding of it, and the decoded path. */
const spellings = [
  ['my%20app', 'm%79%20app', 'my app'],
  ['gr%C3%BC%C3%9Fe', 'gr%c3%bc%c3%9fe', 'grüße'],
  ['lower%c3%bc', 'lower%C3%BC', 'lowerü'],
  ['team%2Fone', 'team/one', 'team/one'],
  ['a+b', 'a%2Bb', 'a+b'],
  ['a%7Eb', 'a~b', 'a~b'],
  ['50%25', '%350%25', '50%'],
] as const;

async function listIds(path: string): Promise<readonly string[]> {
  return ((await show(service, path)).json as IdList).data.map(({ id }) => id);
}

async function move(operation: 'move' | 'copy', from: string, to: string): Promise<number> {
  const [sourceUrl, destinationUrl] = [from, to].map((name) => `applications/${ownBucket}/${name}`);
  const path = `/v1/ops/resource/${operation}`;
  return (await service.sendRequest({ method: 'POST', path, headers: withKey(), body: { sourceUrl, destinationUrl } })).status;
}

describe.each(spellings)('an application saved at %s', (sentPath, otherPath, decoded) => {
  const id = `applications/${ownBucket}/${sentPath}`;

  it('has the ID that was sent in every response', async () => {
    expect((await save(service, getApplicationPath(sentPath), quickApp())).json).toMatchObject({ id });
    for (const path of ['/openai/applications', '/openai/deployments', '/v1/models', `/v1/applications/${ownBucket}/`]) {
      expect(await listIds(path)).toContain(id);
    }
    expect((await show(service, `/v1/metadata/applications/${ownBucket}/${sentPath}`)).json).toMatchObject({ url: id });
    const below = await show(service, `/v1/metadata/applications/${ownBucket}/?recursive=true&permissions=true`);
    expect(below.json).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ url: id, permissions: ['READ', 'WRITE'] })]),
    });
    for (const path of [id, encodeURIComponent(id)]) {
      expect((await show(service, `/openai/applications/${path}`)).json).toMatchObject({ id, application: id });
    }
  });

  it('is one application in every encoding, and retains its first ID', async () => {
    const repeated = await save(service, getApplicationPath(otherPath), quickApp({}, { displayName: 'Again' }));
    expect([repeated.status, repeated.json]).toMatchObject([200, { id, displayName: 'Again' }]);
    expect((await show(service, getApplicationPath(sentPath))).json).toMatchObject({ id, displayName: 'Again' });
    expect((await show(service, `/v1/versions/applications/${ownBucket}/${otherPath}?version=1`)).json).toMatchObject({ id });
  });

  it('can be called by its ID, its encoded ID, and its decoded name', async () => {
    for (const model of [id, `applications/${ownBucket}/${decoded}`]) {
      const path = '/v1/chat/completions';
      const { status, json } = await service.sendRequest({
        method: 'POST',
        path,
        headers: withKey(),
        body: { model, messages: hello },
      });
      expect([status, json]).toMatchObject([200, { model: id }]);
    }
    for (const inPath of [id, encodeURIComponent(id)]) {
      const path = `/openai/deployments/${inPath}/chat/completions`;
      expect((await service.sendRequest({ method: 'POST', path, headers: withKey(), body: { messages: hello } })).status).toBe(
        200,
      );
    }
  });

  it('can be the model of another application under its ID and its decoded name', async () => {
    for (const model of [id, `applications/${ownBucket}/${decoded}`]) {
      expect((await save(service, getApplicationPath('behind'), quickApp({ model }))).status).toBeLessThan(300);
    }
    expect((await service.chat(`applications/${ownBucket}/behind`, { messages: hello })).status).toBe(200);
  });

  it('has the encoding of the destination path after a copy or a move', async () => {
    const toId = (name: string) => `applications/${ownBucket}/${name}/${sentPath}`;
    expect(await move('copy', otherPath, `copied/${sentPath}`)).toBe(200);
    expect(await move('move', `copied/${otherPath}`, `moved/${sentPath}`)).toBe(200);
    expect((await show(service, getApplicationPath(`moved/${otherPath}`))).json).toMatchObject({ id: toId('moved') });
    expect(await listIds('/openai/applications')).not.toContain(toId('copied'));
    expect((await remove(service, getApplicationPath(`moved/${otherPath}`))).status).toBe(204);
  });
});

it('an application with a percent sign in its name differs from the application with the decoded name', async () => {
  const literalApp = { ...quickApp(), displayName: 'literal' };
  expect((await save(service, getApplicationPath('in%2520name'), literalApp)).json).toMatchObject({
    id: `applications/${ownBucket}/in%2520name`,
  });
  expect((await save(service, getApplicationPath('in%20name'), quickApp())).status).toBe(201);
  expect((await show(service, getApplicationPath('in%2520name'))).json).toMatchObject({ displayName: 'literal' });
  for (const name of ['in%2520name', 'in%20name']) {
    const body = { model: `applications/${ownBucket}/${name}`, messages: hello };
    const { json } = await service.sendRequest({ method: 'POST', path: '/v1/chat/completions', headers: withKey(), body });
    expect(json).toMatchObject({ model: body.model });
  }
});

it('consent to an application can be given and withdrawn at the path of its ID', async () => {
  const id = `applications/${ownBucket}/needs%20consent`;
  await save(service, getApplicationPath('needs%20consent'), quickApp({}, { features: { consentRequired: true } }));
  await accept(service, id);
  expect(await isAccepted(service, encodeURIComponent(id))).toBe(true);
  expect((await deleteConsent(service, id)).status).toBe(204);
  expect(await isAccepted(service, id)).toBe(false);
});
