import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { freshSqlite } from '#test/sql-engines.ts';
import { createApplicationStore, createFileIndex } from '#test/sql-stores.ts';
import { type TestService, withKey } from '#test/start-service.ts';
import { accept, deleteConsent, isAccepted } from '../consent/support.ts';
import { openStore, startFiles } from '../files/support.ts';
import { ownBucket, pathOf, quickApp, remove, save, show } from './support.ts';

let service: TestService;
const closing: (() => PromiseLike<unknown>)[] = [];

beforeAll(async () => {
  const whole = await freshSqlite();
  const { database, close } = await whole.open();
  const applications = createApplicationStore(database);
  const upstream = await startScriptedUpstream(jsonReply(plainCompletion('Hello.')));
  const models = { demo: { upstreams: [{ endpoint: `${upstream.url}/v1`, key: 'k' }] } };
  const store = await openStore('disk');
  const { blobs } = store;
  const files = await startFiles({ blobs, index: createFileIndex(database) }, { models }, { applications });
  service = files.service;
  closing.push(() => files[Symbol.asyncDispose](), close);
  closing.push(
    () => whole[Symbol.asyncDispose](),
    () => store[Symbol.asyncDispose](),
    () => upstream.close(),
  );
});

afterAll(async () => {
  for (const close of closing) await close();
});

interface Listed {
  readonly data: readonly { readonly id: string }[];
}

/** As sent, another spelling of the same, and decoded. */
const spellings = [
  ['my%20app', 'm%79%20app', 'my app'],
  ['gr%C3%BC%C3%9Fe', 'gr%c3%bc%c3%9fe', 'grüße'],
  ['lower%c3%bc', 'lower%C3%BC', 'lowerü'],
  ['team%2Fone', 'team/one', 'team/one'],
  ['a+b', 'a%2Bb', 'a+b'],
  ['a%7Eb', 'a~b', 'a~b'],
  ['50%25', '%350%25', '50%'],
] as const;

async function idsAt(path: string): Promise<readonly string[]> {
  return ((await show(service, path)).json as Listed).data.map(({ id }) => id);
}

async function move(how: 'move' | 'copy', from: string, to: string): Promise<number> {
  const [sourceUrl, destinationUrl] = [from, to].map((name) => `applications/${ownBucket}/${name}`);
  const path = `/v1/ops/resource/${how}`;
  return (await service.sendRequest({ method: 'POST', path, headers: withKey(), body: { sourceUrl, destinationUrl } })).status;
}

describe.each(spellings)('an application saved at %s', (sent, other, decoded) => {
  const id = `applications/${ownBucket}/${sent}`;

  it('has the ID that was sent in every response', async () => {
    expect((await save(service, pathOf(sent), quickApp())).json).toMatchObject({ id });
    for (const path of ['/openai/applications', '/openai/deployments', '/v1/models', `/v1/applications/${ownBucket}/`]) {
      expect(await idsAt(path)).toContain(id);
    }
    expect((await show(service, `/v1/metadata/applications/${ownBucket}/${sent}`)).json).toMatchObject({ url: id });
    const below = await show(service, `/v1/metadata/applications/${ownBucket}/?recursive=true&permissions=true`);
    expect(below.json).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ url: id, permissions: ['READ', 'WRITE'] })]),
    });
    for (const path of [id, encodeURIComponent(id)]) {
      expect((await show(service, `/openai/applications/${path}`)).json).toMatchObject({ id, application: id });
    }
  });

  it('is one application in any spelling, and keeps the first', async () => {
    const again = await save(service, pathOf(other), quickApp({}, { displayName: 'Again' }));
    expect([again.status, again.json]).toMatchObject([200, { id, displayName: 'Again' }]);
    expect((await show(service, pathOf(sent))).json).toMatchObject({ id, displayName: 'Again' });
    expect((await show(service, `/v1/versions/applications/${ownBucket}/${other}?version=1`)).json).toMatchObject({ id });
  });

  it('answers to its id, to its address and to its decoded name', async () => {
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

  it('may be the model of another application by any of these names', async () => {
    for (const model of [id, `applications/${ownBucket}/${decoded}`]) {
      expect((await save(service, pathOf('behind'), quickApp({ model }))).status).toBeLessThan(300);
    }
    expect((await service.chat(`applications/${ownBucket}/behind`, { messages: hello })).status).toBe(200);
  });

  it('is spelled as the address that it is copied and moved to', async () => {
    const spelled = (name: string) => `applications/${ownBucket}/${name}/${sent}`;
    expect(await move('copy', other, `copied/${sent}`)).toBe(200);
    expect(await move('move', `copied/${other}`, `moved/${sent}`)).toBe(200);
    expect((await show(service, pathOf(`moved/${other}`))).json).toMatchObject({ id: spelled('moved') });
    expect(await idsAt('/openai/applications')).not.toContain(spelled('copied'));
    expect((await remove(service, pathOf(`moved/${other}`))).status).toBe(204);
  });
});

it('an application with a percent sign in its name differs from the decoded name', async () => {
  const others = { ...quickApp(), displayName: 'literal' };
  expect((await save(service, pathOf('in%2520name'), others)).json).toMatchObject({
    id: `applications/${ownBucket}/in%2520name`,
  });
  expect((await save(service, pathOf('in%20name'), quickApp())).status).toBe(201);
  expect((await show(service, pathOf('in%2520name'))).json).toMatchObject({ displayName: 'literal' });
  for (const name of ['in%2520name', 'in%20name']) {
    const body = { model: `applications/${ownBucket}/${name}`, messages: hello };
    const { json } = await service.sendRequest({ method: 'POST', path: '/v1/chat/completions', headers: withKey(), body });
    expect(json).toMatchObject({ model: body.model });
  }
});

it('consent to an application is given and taken back at its address', async () => {
  const id = `applications/${ownBucket}/needs%20consent`;
  await save(service, pathOf('needs%20consent'), quickApp({}, { features: { consentRequired: true } }));
  await accept(service, id);
  expect(await isAccepted(service, encodeURIComponent(id))).toBe(true);
  expect((await deleteConsent(service, id)).status).toBe(204);
  expect(await isAccepted(service, id)).toBe(false);
});
