import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { MemoryConsentStore } from '#test/memory-consent-store.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { accept, consentPath, deleteConsent, formOf, getConsent, isAccepted, postConsent, required } from './support.ts';

const maxBodyBytes = 2_000;
const nowMs = 1_752_574_830_400;
const endpoint = 'http://127.0.0.1:9/';
const mailForm = { assistant: required(false), 'team/mail box': required(true), m: required(false), staffed: required(false) };

let service: TestService;
let consents: MemoryConsentStore;

const configuration = {
  models: { m: { upstreams: [{ protocol: 'demo' }] }, staffed: { upstreams: [{ protocol: 'demo' }], userRoles: ['staff'] } },
  applications: {
    assistant: { endpoint, dependencies: ['team/mail box', 'gone', 'm'] },
    'team/mail box': { endpoint, dependencies: ['staffed'], features: required(true) },
    closed: { endpoint, dependencies: ['team/mail box'], userRoles: ['staff'] },
    plain: { endpoint, dependencies: ['m'] },
  },
  keys: { [callerKey]: { project: 'test' }, other: { project: 'other' }, same: { project: 'test' } },
  security: { maxBodyBytes },
};

beforeAll(async () => {
  consents = new MemoryConsentStore();
  service = await startService(configuration, { consents, clock: { ...systemClock, epochMs: () => nowMs } });
});

beforeEach(async () => {
  service.reload(configuration);
  for (const subject of ['key:test', 'key:other'])
    for (const { deployment } of await consents.list(subject)) await consents.delete(subject, deployment);
});

afterAll(() => service.close());

/** Another assistant in force. */
function reloadWith(assistant: object): void {
  service.reload({ ...configuration, applications: { ...configuration.applications, assistant } });
}

function told({ status, error }: TestResponse): readonly [number, string | null] {
  return [status, error.code];
}

describe('the consent form of a deployment', () => {
  it('lists all dependencies, also those that the caller cannot use, and that it is not accepted', async () => {
    const answer = await getConsent(service, 'assistant');
    expect([answer.status, answer.json]).toEqual([200, { consent: mailForm, accepted: false }]);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.headers['x-request-id']).toBeTypeOf('string');
  });

  it.each(['plain', 'm'])('is omitted if no deployment requires consent: %s', async (id) => {
    expect((await getConsent(service, id)).json).toEqual({ accepted: true });
  });

  it('is omitted after it is accepted', async () => {
    const answer = await postConsent(service, 'assistant', { consent: mailForm });
    expect([answer.status, answer.json]).toEqual([200, { accepted: true }]);
    expect((await getConsent(service, 'assistant')).json).toEqual({ accepted: true });
  });

  it('is found by every spelling of its ID that decodes once, and stored under the ID', async () => {
    const spellings = ['team/mail%20box', 'team%2Fmail%20box', '%74eam/mail%20%62ox?x=1'];
    for (const spelling of spellings) {
      await deleteConsent(service, 'team/mail%20box');
      await accept(service, spelling);
      for (const other of spellings) expect(await isAccepted(service, other)).toBe(true);
      expect((await consents.list('key:test')).map(({ deployment }) => deployment)).toEqual(['team/mail box']);
    }
  });

  it.each([
    ...['none', 'ASSISTANT', 'assistant/', '/assistant', 'assistant/.', 'x/../assistant', 'x/%2e%2e/assistant', '%2e'],
    ...['team%252Fmail%20box', 'assistant%00', '__proto__', 'constructor', '', 'x'.repeat(2_000)],
  ])('is not found by %s', async (spelling) => {
    for (const ask of [getConsent, deleteConsent])
      expect(told(await ask(service, spelling))).toEqual([404, 'deployment_not_found']);
    expect(told(await postConsent(service, spelling, { consent: mailForm }))).toEqual([404, 'deployment_not_found']);
  });

  it('is rejected for users who cannot use the deployment', async () => {
    for (const ask of [getConsent, deleteConsent]) expect(told(await ask(service, 'closed'))).toEqual([403, 'access_denied']);
    expect(told(await postConsent(service, 'closed', { consent: {} }))).toEqual([403, 'access_denied']);
  });

  it('belongs to one user, and all keys of a project are one user', async () => {
    await accept(service, 'assistant');
    expect(await isAccepted(service, 'assistant', 'same')).toBe(true);
    expect(await isAccepted(service, 'assistant', 'other')).toBe(false);
    await deleteConsent(service, 'assistant', 'other');
    expect(await isAccepted(service, 'assistant')).toBe(true);
  });

  it('supports HEAD without a body, and no other method', async () => {
    const path = consentPath('assistant');
    const head = await service.sendRequest({ method: 'HEAD', path, headers: { 'api-key': callerKey } });
    expect([head.status, head.text]).toEqual([200, '']);
    const put = await service.sendRequest({ method: 'PUT', path, headers: withKey(), body: { consent: mailForm } });
    expect([...told(put), put.headers.allow]).toEqual([405, 'method_not_allowed', 'DELETE, GET, HEAD, POST']);
  });
});

describe('a submitted form', () => {
  const refused = async (consent: unknown): Promise<void> => {
    const outdated = await postConsent(service, 'assistant', { consent });
    expect(told(outdated)).toEqual([409, 'consent_outdated']);
    expect(outdated.error).toMatchObject({ deployment: 'assistant', consent: mailForm });
    expect(await consents.list('key:test')).toEqual([]);
  };

  it('is rejected and not stored if it is shortened', async () => {
    for (const id of Object.keys(mailForm))
      await refused(Object.fromEntries(Object.entries(mailForm).filter(([each]) => each !== id)));
    await refused({});
  });

  it('is rejected and not stored if it is forged', async () => {
    await refused({ ...mailForm, more: required(false) });
    await refused({ ...mailForm, 'team/mail box': required(false) });
    await refused({ ...mailForm, m: required(true) });
    await refused({ ...mailForm, gone: required(false) });
    await refused({ ...mailForm, constructor: required(false) });
    const { assistant, ...others } = mailForm;
    await refused({ ...others, Assistant: assistant });
  });

  it('is rejected if it belongs to another deployment', async () => {
    await refused(await formOf(service, 'team/mail%20box'));
  });

  it('is rejected after a reload made it outdated, and the earlier consent stays', async () => {
    await accept(service, 'assistant');
    const [before] = await consents.list('key:test');
    const shown = mailForm;
    reloadWith({ endpoint, dependencies: ['team/mail box'] });
    expect(told(await postConsent(service, 'assistant', { consent: shown }))).toEqual([409, 'consent_outdated']);
    expect(await consents.list('key:test')).toEqual([before]);
  });

  it('replaces the earlier consent', async () => {
    await accept(service, 'assistant');
    reloadWith({ endpoint, dependencies: ['team/mail box'] });
    expect(await isAccepted(service, 'assistant')).toBe(false);
    await accept(service, 'assistant');
    expect(await isAccepted(service, 'assistant')).toBe(true);
    expect((await consents.list('key:test')).map(({ form }) => Object.keys(form))).toEqual([
      ['assistant', 'team/mail box', 'staffed'],
    ]);
  });

  it('is no longer accepted after a reload adds a dependency or a requirement, until that is removed', async () => {
    await accept(service, 'assistant');
    const { assistant } = configuration.applications;
    for (const changed of [
      { ...assistant, dependencies: [...assistant.dependencies, 'plain'] },
      { ...assistant, dependencies: ['team/mail box'] },
      { ...assistant, features: required(true) },
    ]) {
      reloadWith(changed);
      expect(await isAccepted(service, 'assistant')).toBe(false);
      service.reload(configuration);
      expect(await isAccepted(service, 'assistant')).toBe(true);
    }
  });

  it.each<[what: string, body: unknown, code: string, param: string | null]>([
    ['no JSON', '{', 'invalid_json', null],
    ['nothing', '', 'invalid_json', null],
    ['JSON nested too deeply', `{"consent":${'['.repeat(100)}${']'.repeat(100)}}`, 'invalid_json', null],
    ['a list', [], 'invalid_request', null],
    ['no form', { accepted: true }, 'invalid_request', 'consent'],
    [
      'a faulty item',
      { consent: { ...mailForm, 'team/mail box': { consentRequired: 'yes' } } },
      'invalid_request',
      'consent["team/mail box"].consentRequired',
    ],
    [
      'an unknown key in an item',
      { consent: { ...mailForm, m: { consentRequired: false, x: 1 } } },
      'invalid_request',
      'consent.m.x',
    ],
  ])('that is %s is rejected with the path of the error', async (_what, body, code, param) => {
    const { status, error } = await postConsent(service, 'assistant', body);
    expect([status, error.code, error.param]).toEqual([400, code, param]);
    expect(await consents.list('key:test')).toEqual([]);
  });

  it('can be the complete response of GET', async () => {
    const { json } = await getConsent(service, 'assistant');
    expect((await postConsent(service, 'assistant', json)).status).toBe(200);
  });
});

describe('the order of checks', () => {
  const large = { consent: { a: 'x'.repeat(maxBodyBytes) } };
  const ask = (id: string, body: unknown, headers: Record<string, string>) =>
    service.sendRequest({ path: consentPath(id), headers, body });

  it('is the order of every API: size, credentials, media type, deployment, access, body, form', async () => {
    const key = { 'api-key': callerKey };
    const plain = { 'content-type': 'text/plain' };
    const json = { 'content-type': 'application/json' };
    const answers = [
      await ask('none', large, plain),
      await ask('none', '{', { ...plain, 'api-key': 'unknown' }),
      await ask('none', '{', plain),
      await ask('none', '{', { ...key, ...plain }),
      await ask('none', '{', key),
      await ask('none', '{', { ...key, ...json }),
      await ask('closed', '{', { ...key, ...json }),
      await ask('assistant', '{', { ...key, ...json }),
      await ask('assistant', { consent: {} }, { ...key, 'content-type': 'Application/JSON; charset=utf-8' }),
    ];
    expect(answers.map(told)).toEqual([
      [413, 'payload_too_large'],
      [401, 'invalid_api_key'],
      [401, 'missing_credentials'],
      [415, 'unsupported_media_type'],
      [415, 'unsupported_media_type'],
      [404, 'deployment_not_found'],
      [403, 'access_denied'],
      [400, 'invalid_json'],
      [409, 'consent_outdated'],
    ]);
  });

  it('rejects a body without a length as soon as it is too large', async () => {
    const answer = await ask('assistant', large, { ...withKey(), 'transfer-encoding': 'chunked' });
    expect(told(answer)).toEqual([413, 'payload_too_large']);
  });

  it('requires a key for every route', async () => {
    for (const method of ['GET', 'DELETE', 'POST']) {
      expect(told(await service.sendRequest({ method, path: consentPath('assistant') }))).toEqual([401, 'missing_credentials']);
    }
    expect(told(await service.sendRequest({ method: 'GET', path: '/v1/consent' }))).toEqual([401, 'missing_credentials']);
  });
});

describe('a withdrawn consent', () => {
  it('returns 204, whether or not it existed', async () => {
    await accept(service, 'assistant');
    const answer = await deleteConsent(service, 'assistant');
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await isAccepted(service, 'assistant')).toBe(false);
    expect((await deleteConsent(service, 'assistant')).status).toBe(204);
  });

  it('returns 204 for a request with a media type', async () => {
    await accept(service, 'assistant');
    expect((await service.sendRequest({ method: 'DELETE', path: consentPath('assistant'), headers: withKey() })).status).toBe(
      204,
    );
    expect(await isAccepted(service, 'assistant')).toBe(false);
  });

  it('can belong to a deployment that no longer exists or is closed', async () => {
    await accept(service, 'assistant');
    await accept(service, 'team/mail%20box');
    const { 'team/mail box': mail } = configuration.applications;
    service.reload({ ...configuration, applications: { 'team/mail box': { ...mail, userRoles: [] } } });
    expect((await deleteConsent(service, 'assistant')).status).toBe(204);
    expect((await deleteConsent(service, 'team/mail%20box')).status).toBe(204);
    expect(await consents.list('key:test')).toEqual([]);
    expect((await deleteConsent(service, 'assistant')).status).toBe(404);
    expect((await deleteConsent(service, 'team/mail%20box')).status).toBe(403);
  });
});

describe('the list of consents', () => {
  const list = (key?: string) =>
    service.sendRequest({ method: 'GET', path: '/v1/consent', headers: { 'api-key': key ?? callerKey } });

  it('has the consents of the caller by deployment, with the accepted form and the time', async () => {
    await accept(service, 'team/mail%20box');
    await accept(service, 'assistant');
    await accept(service, 'assistant', 'other');
    expect((await list()).json).toEqual({
      object: 'list',
      data: [
        { deployment: 'assistant', consent: mailForm, acceptedAt: nowMs },
        {
          deployment: 'team/mail box',
          consent: { 'team/mail box': required(true), staffed: required(false) },
          acceptedAt: nowMs,
        },
      ],
    });
    expect((await list('other')).json).toMatchObject({ data: [{ deployment: 'assistant' }] });
  });

  it('is empty for a user without consents', async () => {
    expect((await list()).json).toEqual({ object: 'list', data: [] });
  });
});
