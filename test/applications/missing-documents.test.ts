import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { watchNode } from '#test/watch-node.ts';
import { TestShelves } from '../retrieval/rig.ts';
import { ownBucket, pathOf, quickApp, save } from './support.ts';

const param = 'applicationProperties.document_relative_url';
const models = { demo: { upstreams: [{ protocol: 'demo' }] } };
let shelves: TestShelves;
let service: TestService;

beforeAll(async () => {
  shelves = await TestShelves.open();
  service = await startService({ models }, shelves.options);
});

afterAll(async () => {
  await service.close();
  await shelves[Symbol.asyncDispose]();
});

it('an application is not saved with a document that is not stored, which is named, until it is', async () => {
  const there = await shelves.put('there.txt', 'Here I am.', ownBucket);
  const lost = `files/${ownBucket}/not%20there.txt`;
  for (const [written, place] of [
    [[there, lost], `${param}[1]`],
    [lost, param],
  ]) {
    const { status, error } = await save(service, pathOf('reader'), quickApp({ document_relative_url: written }));
    expect([status, error.param, error.message]).toEqual([
      400,
      place,
      `${place} names ${lost}, which is not stored. Upload it first, or remove it.`,
    ]);
  }
  await shelves.put('not there.txt', 'Now I am.', ownBucket);
  expect((await save(service, pathOf('reader'), quickApp({ document_relative_url: [there, lost] }))).status).toBe(201);
});

it('a version with a deleted document is not restored', async () => {
  const going = await shelves.put('going.txt', 'Soon gone.', ownBucket);
  for (const written of [[going], []]) await save(service, pathOf('former'), quickApp({ document_relative_url: written }));
  await shelves.files.delete(ownBucket, 'going.txt', undefined);
  const path = `/v1/versions/applications/${ownBucket}/former?version=1`;
  const { status, error } = await service.sendRequest({ method: 'POST', path, headers: withKey() });
  expect([status, error.param]).toEqual([400, `${param}[0]`]);
});

it('/health names a configured application until its document is stored', async () => {
  const watch = watchNode();
  const reference = 'files/bucket/late.txt';
  await using other = await startService(
    { models, applications: { guide: quickApp({ document_relative_url: reference }, { displayName: 'Guide' }) } },
    { ...shelves.options, ...watch.options },
  );
  const state = watch.createState(other);
  const look = () => other.sendRequest({ method: 'GET', path: '/v1/deployments/guide/documents', headers: withKey() });
  await look();
  await look();
  const message = `Document ${reference} of application guide is missing. Upload it`;
  expect([watch.log, state.listIssues()]).toEqual([[message], [{ code: 'document_missing', message }]]);
  await shelves.put('late.txt', 'Here at last.');
  await look();
  expect(state.listIssues()).toEqual([]);
});

it('a document that an application of a user lacks is logged once for each configuration, not with each call', async () => {
  await using other = await startService({ models }, shelves.options);
  const { documents } = watchNode().createState(other);
  const application = 'applications/bucket/guide';
  const noteAll = (count: number) =>
    Array.from({ length: count }, (_, index) => documents.note(`${application}-${index}`, ['files/bucket/a.txt'])).filter(
      Boolean,
    );
  expect(noteAll(2)).toHaveLength(2);
  expect(noteAll(2)).toEqual([]);
  expect(documents.note(`${application}-0`, ['files/bucket/a.txt', 'files/bucket/b.txt'])).toContain('files/bucket/b.txt');
  expect(documents.reasons).toEqual([]);
  other.reload({ models, roles: { default: {} } });
  expect(noteAll(2)).toHaveLength(2);
  expect(noteAll(2)).toEqual([]);
});

it.each(['web_api_toolset', 'web_api_toolset_alternative'])('a key without its place is not saved in %s', async (key) => {
  const authorization = { type: 'api_key', key: 'k', name: 'X-Key' };
  const { status, error } = await save(
    service,
    pathOf('keyed'),
    quickApp({ [key]: [{ type: 'rest-api', name: 'a', authorization, tools: [] }] }),
  );
  expect([status, error.param]).toEqual([400, `applicationProperties.${key}[0].authorization.location`]);
});
