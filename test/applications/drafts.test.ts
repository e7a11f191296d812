import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditEvent, startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, getProjectBucket, ownBucket, quickApp, save, show } from './support.ts';

const audited: AuditEvent[] = [];
const configuration = {
  models: { demo: { upstreams: [{ protocol: 'demo' }] } },
  applications: { caller: { endpoint: 'http://127.0.0.1:9/chat', userRoles: [] } },
  keys: {
    'caller-key': { project: 'test' },
    'other-key-of-a-team': { project: 'other' },
    'bound-key-of-the-user': { project: 'test', deployments: [`applications/${ownBucket}/guide`] },
  },
};
let service: TestService;

beforeAll(async () => {
  service = await startService(configuration, { recordAudit: (event) => audited.push(event) });
  await save(service, getApplicationPath('guide'), quickApp({}, { displayName: 'Guide' }));
});

afterAll(() => service.close());

const messages = [{ role: 'user', content: 'Count to 3' }];

function tryDraft(application: unknown, { name = 'guide', key = 'caller-key', bucket = ownBucket, request = {} } = {}) {
  return service.sendRequest({
    method: 'POST',
    path: `/v1/drafts/applications/${bucket}/${name}`,
    headers: { ...withKey(), 'api-key': key, 'x-parley-trace': 'true' },
    body: { application, request: { messages, ...request } },
  });
}

describe('a draft of an application', () => {
  it('answers without a change of the saved application', async () => {
    const before = await show(service, getApplicationPath('guide'));
    const eventsBefore = audited.length;
    const reply = await tryDraft(quickApp({ starters: ['Hello'] }, { displayName: 'New name' }));
    expect(reply.status).toBe(200);
    expect(reply.json).toMatchObject({ choices: [{ message: { content: '1 2 3' } }] });
    expect((await show(service, getApplicationPath('guide'))).json).toEqual(before.json);
    expect(audited.length).toBe(eventsBefore);
  });

  it('answers as a stream, with a trace if the header asks for it', async () => {
    const { text } = await tryDraft(quickApp(), { request: { stream: true } });
    expect(text).toContain('"trace"');
    expect(text.trimEnd()).toMatch(/data: \[DONE\]$/);
  });

  it('answers if the application was never saved', async () => {
    expect((await tryDraft(quickApp(), { name: 'unsaved' })).status).toBe(200);
    expect((await show(service, getApplicationPath('unsaved'))).status).toBe(404);
    expect((await tryDraft(quickApp(), { name: 'other-path' })).status).toBe(404);
  });

  it.each([
    ['an unknown model', quickApp({ model: 'missing' }), 'applicationProperties.model'],
    [
      'a document of another user',
      quickApp({ document_relative_url: 'files/other/a.txt' }),
      'applicationProperties.document_relative_url',
    ],
    ['no object', 'text', null],
    ['more than 512 KiB', quickApp({ instructions: 'x'.repeat(600 * 1024) }), 'application'],
  ])('is rejected if it has %s', async (_what, application, param) => {
    const reply = await tryDraft(application);
    expect([reply.status, reply.error.param]).toEqual([400, param]);
  });

  it('is rejected in the bucket of another user, with a key that is bound to deployments, and without an application', async () => {
    expect((await tryDraft(quickApp(), { bucket: getProjectBucket('other') })).status).toBe(403);
    expect((await tryDraft(quickApp(), { key: 'other-key-of-a-team' })).status).toBe(403);
    expect((await tryDraft(quickApp(), { key: 'bound-key-of-the-user' })).status).toBe(403);
    const path = `/v1/drafts/applications/${ownBucket}/guide`;
    expect((await service.sendRequest({ method: 'POST', path, headers: withKey(), body: [] })).status).toBe(400);
    expect((await service.sendRequest({ method: 'POST', path, headers: withKey(), body: {} })).status).toBe(400);
  });
});
