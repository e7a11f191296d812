import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { watchNode } from '#test/watch-node.ts';
import { TestFiles } from '../retrieval/rig.ts';
import { getApplicationPath, ownBucket, quickApp, save } from './support.ts';

const param = 'applicationProperties.document_relative_url';
const models = { demo: { upstreams: [{ protocol: 'demo' }] } };
let documentStores: TestFiles;
let service: TestService;

beforeAll(async () => {
  documentStores = await TestFiles.open();
  service = await startService({ models }, documentStores.options);
});

afterAll(async () => {
  await service.close();
  await documentStores[Symbol.asyncDispose]();
});

it('an application with a missing document is rejected, with the document in the error, until the document is stored', async () => {
  const presentReference = await documentStores.put('there.txt', 'Here I am.', ownBucket);
  const missingReference = `files/${ownBucket}/not%20there.txt`;
  for (const [references, path] of [
    [[presentReference, missingReference], `${param}[1]`],
    [missingReference, param],
  ]) {
    const { status, error } = await save(service, getApplicationPath('reader'), quickApp({ document_relative_url: references }));
    expect([status, error.param, error.message]).toEqual([
      400,
      path,
      `${path} names ${missingReference}, which is not stored. Upload it first, or remove it.`,
    ]);
  }
  await documentStores.put('not there.txt', 'Now I am.', ownBucket);
  expect(
    (await save(service, getApplicationPath('reader'), quickApp({ document_relative_url: [presentReference, missingReference] })))
      .status,
  ).toBe(201);
});

it.each([{ value: [5, null] }, { value: 'https://app.example/documents/a.txt' }])(
  'an application with an endpoint may have properties that are not documents, although their name is the same',
  async ({ value }) => {
    const application = {
      endpoint: 'https://app.example/chat',
      applicationTypeSchemaId: 'https://app.example/schema',
      applicationProperties: { document_relative_url: value },
    };
    expect((await save(service, getApplicationPath('own-format'), application)).status).toBeLessThan(300);
  },
);

it('a version with a deleted document cannot be restored', async () => {
  const reference = await documentStores.put('going.txt', 'Soon gone.', ownBucket);
  for (const references of [[reference], []])
    await save(service, getApplicationPath('former'), quickApp({ document_relative_url: references }));
  await documentStores.files.delete(ownBucket, 'going.txt', undefined);
  const path = `/v1/versions/applications/${ownBucket}/former?version=1`;
  const { status, error } = await service.sendRequest({ method: 'POST', path, headers: withKey() });
  expect([status, error.param]).toEqual([400, `${param}[0]`]);
});

it('/health reports a configured application until its document is stored', async () => {
  const watch = watchNode();
  const reference = 'files/bucket/late.txt';
  await using otherService = await startService(
    { models, applications: { guide: quickApp({ document_relative_url: reference }, { displayName: 'Guide' }) } },
    { ...documentStores.options, ...watch.options },
  );
  const state = watch.createState(otherService);
  const readDocuments = () =>
    otherService.sendRequest({ method: 'GET', path: '/v1/deployments/guide/documents', headers: withKey() });
  await readDocuments();
  await readDocuments();
  const message = `guide names the document ${reference}, which is not stored. Upload it`;
  expect([watch.log, state.listIssues()]).toEqual([[message], [{ code: 'document_missing', message }]]);
  await documentStores.put('late.txt', 'Here at last.');
  await readDocuments();
  expect(state.listIssues()).toEqual([]);
});

it('a missing document of a saved application is logged once per configuration, not with each call', async () => {
  await using otherService = await startService({ models }, documentStores.options);
  const { missingDocuments: documents } = watchNode().createState(otherService);
  const application = 'applications/bucket/guide';
  const noteAll = (count: number) =>
    Array.from({ length: count }, (_, index) => documents.record(`${application}-${index}`, ['files/bucket/a.txt'])).filter(
      Boolean,
    );
  expect(noteAll(2)).toHaveLength(2);
  expect(noteAll(2)).toEqual([]);
  expect(documents.record(`${application}-0`, ['files/bucket/a.txt', 'files/bucket/b.txt'])).toContain('files/bucket/b.txt');
  expect(documents.reasons).toEqual([]);
  otherService.reload({ models, roles: { default: {} } });
  expect(noteAll(2)).toHaveLength(2);
  expect(noteAll(2)).toEqual([]);
});

it.each(['web_api_toolset', 'web_api_toolset_alternative'])('a key without a location is rejected in %s', async (key) => {
  const authorization = { type: 'api_key', key: 'k', name: 'X-Key' };
  const { status, error } = await save(
    service,
    getApplicationPath('keyed'),
    quickApp({ [key]: [{ type: 'rest-api', name: 'a', authorization, tools: [] }] }),
  );
  expect([status, error.param]).toEqual([400, `applicationProperties.${key}[0].authorization.location`]);
});
