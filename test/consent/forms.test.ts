import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { MemoryConsentStore } from '#test/memory-consent-store.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { accept, createForm, deleteConsent, getConsent, getConsentPath, getForm, isAccepted, postConsent } from './support.ts';

const maxBodyBytes = 2_000;
const nowMs = 1_752_574_830_400;
const endpoint = 'http://127.0.0.1:9/';
const mailForm = {
  assistant: createForm(false),
  'team/mail box': createForm(true),
  m: createForm(false),
  staffed: createForm(false),
};

let service: TestService;
let consents: MemoryConsentStore;

const configuration = {
  models: { m: { upstreams: [{ protocol: 'demo' }] }, staffed: { upstreams: [{ protocol: 'demo' }], userRoles: ['staff'] } },
  applications: {
    assistant: { endpoint, dependencies: ['team/mail box', 'gone', 'm'] },
    'team/mail box': { endpoint, dependencies: ['staffed'], features: createForm(true) },
    closed: { endpoint, dependencies: ['team/mail box'], userRoles: ['staff'] },
    plain: { endpoint, dependencies: ['m'] },
  },
  keys: { [callerKey]: { project: 'test' }, other: { project: 'other' }, 'same-project': { project: 'test' } },
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

/** Reloads the configuration with another definition of `assistant`. */
function reloadWith(assistant: object): void {
  service.reload({ ...configuration, applications: { ...configuration.applications, assistant } });
}

function getStatusAndCode({ status, error }: TestResponse): readonly [number, string | null] {
  return [status, error.code];
}

describe('the consent form of a deployment', () => {
  it('lists all dependencies, including those that the caller cannot use', async () => {
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

  it('is found by every percent-encoding of its ID, and is stored under the decoded ID', async () => {
    const spellings = ['team/mail%20box', 'team%2Fmail%20box', '%74eam/mail%20%62ox?x=1'];
    for (const spelling of spellings) {
      await deleteConsent(service, 'team/mail%20box');
      await accept(service, spelling);
      for (const otherSpelling of spellings) expect(await isAccepted(service, otherSpelling)).toBe(true);
      expect((await consents.list('key:test')).map(({ deployment }) => deployment)).toEqual(['team/mail box']);
    }
  });

  it.each([
    ...['none', 'ASSISTANT', 'assistant/', '/assistant', 'assistant/.', 'x/../assistant', 'x/%2e%2e/assistant', '%2e'],
    ...['team%252Fmail%20box', 'assistant%00', '__proto__', 'constructor', '', 'x'.repeat(2_000)],
  ])('returns 404 for the ID %s', async (spelling) => {
    for (const send of [getConsent, deleteConsent])
      expect(getStatusAndCode(await send(service, spelling))).toEqual([404, 'deployment_not_found']);
    expect(getStatusAndCode(await postConsent(service, spelling, { consent: mailForm }))).toEqual([404, 'deployment_not_found']);
  });

  it('returns 403 to users who cannot use the deployment', async () => {
    for (const send of [getConsent, deleteConsent])
      expect(getStatusAndCode(await send(service, 'closed'))).toEqual([403, 'access_denied']);
    expect(getStatusAndCode(await postConsent(service, 'closed', { consent: {} }))).toEqual([403, 'access_denied']);
  });

  it('belongs to one user, and all keys of a project are one user', async () => {
    await accept(service, 'assistant');
    expect(await isAccepted(service, 'assistant', 'same-project')).toBe(true);
    expect(await isAccepted(service, 'assistant', 'other')).toBe(false);
    await deleteConsent(service, 'assistant', 'other');
    expect(await isAccepted(service, 'assistant')).toBe(true);
  });

  it('supports HEAD without a body, and no other method', async () => {
    const path = getConsentPath('assistant');
    const head = await service.sendRequest({ method: 'HEAD', path, headers: { 'api-key': callerKey } });
    expect([head.status, head.text]).toEqual([200, '']);
    const put = await service.sendRequest({ method: 'PUT', path, headers: withKey(), body: { consent: mailForm } });
    expect([...getStatusAndCode(put), put.headers.allow]).toEqual([405, 'method_not_allowed', 'DELETE, GET, HEAD, POST']);
  });
});

describe('a submitted form', () => {
  const expectOutdated = async (consent: unknown): Promise<void> => {
    const outdated = await postConsent(service, 'assistant', { consent });
    expect(getStatusAndCode(outdated)).toEqual([409, 'consent_outdated']);
    expect(outdated.error).toMatchObject({ deployment: 'assistant', consent: mailForm });
    expect(await consents.list('key:test')).toEqual([]);
  };

  it('is rejected and not stored if entries are missing', async () => {
    for (const id of Object.keys(mailForm))
      await expectOutdated(Object.fromEntries(Object.entries(mailForm).filter(([key]) => key !== id)));
    await expectOutdated({});
  });

  it('is rejected and not stored if entries are added, renamed, or changed', async () => {
    await expectOutdated({ ...mailForm, more: createForm(false) });
    await expectOutdated({ ...mailForm, 'team/mail box': createForm(false) });
    await expectOutdated({ ...mailForm, m: createForm(true) });
    await expectOutdated({ ...mailForm, gone: createForm(false) });
    await expectOutdated({ ...mailForm, constructor: createForm(false) });
    const { assistant, ...rest } = mailForm;
    await expectOutdated({ ...rest, Assistant: assistant });
  });

  it('is rejected if it belongs to another deployment', async () => {
    await expectOutdated(await getForm(service, 'team/mail%20box'));
  });

  it('is rejected if a reload has made it outdated, and the earlier consent remains', async () => {
    await accept(service, 'assistant');
    const [before] = await consents.list('key:test');
    const outdatedForm = mailForm;
    reloadWith({ endpoint, dependencies: ['team/mail box'] });
    expect(getStatusAndCode(await postConsent(service, 'assistant', { consent: outdatedForm }))).toEqual([
      409,
      'consent_outdated',
    ]);
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

  it('is not accepted while the configuration has other dependencies or requirements', async () => {
    await accept(service, 'assistant');
    const { assistant } = configuration.applications;
    for (const changed of [
      { ...assistant, dependencies: [...assistant.dependencies, 'plain'] },
      { ...assistant, dependencies: ['team/mail box'] },
      { ...assistant, features: createForm(true) },
    ]) {
      reloadWith(changed);
      expect(await isAccepted(service, 'assistant')).toBe(false);
      service.reload(configuration);
      expect(await isAccepted(service, 'assistant')).toBe(true);
    }
  });

  it.each<[description: string, body: unknown, code: string, param: string | null]>([
    ['not JSON', '{', 'invalid_json', null],
    ['empty', '', 'invalid_json', null],
    ['JSON that is nested too deeply', `{"consent":${'['.repeat(100)}${']'.repeat(100)}}`, 'invalid_json', null],
    ['a list', [], 'invalid_request', null],
    ['an object without a form', { accepted: true }, 'invalid_request', 'consent'],
    [
      'a form with an invalid entry',
      { consent: { ...mailForm, 'team/mail box': { consentRequired: 'yes' } } },
      'invalid_request',
      'consent["team/mail box"].consentRequired',
    ],
    [
      'a form with an unknown key in an entry',
      { consent: { ...mailForm, m: { consentRequired: false, x: 1 } } },
      'invalid_request',
      'consent.m.x',
    ],
  ])('is rejected with the path of the error if it is %s', async (_description, body, code, param) => {
    const { status, error } = await postConsent(service, 'assistant', body);
    expect([status, error.code, error.param]).toEqual([400, code, param]);
    expect(await consents.list('key:test')).toEqual([]);
  });

  it('can be the complete response of the GET request', async () => {
    const { json } = await getConsent(service, 'assistant');
    expect((await postConsent(service, 'assistant', json)).status).toBe(200);
  });
});

describe('the order of checks', () => {
  const large = { consent: { a: 'x'.repeat(maxBodyBytes) } };
  const send = (id: string, body: unknown, headers: Record<string, string>) =>
    service.sendRequest({ path: getConsentPath(id), headers, body });

  it('is size, credentials, media type, deployment, access, body, form', async () => {
    const key = { 'api-key': callerKey };
    const textHeaders = { 'content-type': 'text/plain' };
    const json = { 'content-type': 'application/json' };
    const answers = [
      await send('none', large, textHeaders),
      await send('none', '{', { ...textHeaders, 'api-key': 'unknown' }),
      await send('none', '{', textHeaders),
      await send('none', '{', { ...key, ...textHeaders }),
      await send('none', '{', key),
      await send('none', '{', { ...key, ...json }),
      await send('closed', '{', { ...key, ...json }),
      await send('assistant', '{', { ...key, ...json }),
      await send('assistant', { consent: {} }, { ...key, 'content-type': 'Application/JSON; charset=utf-8' }),
    ];
    expect(answers.map(getStatusAndCode)).toEqual([
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

  it('rejects a body without a content length when it exceeds the maximum size', async () => {
    const answer = await send('assistant', large, { ...withKey(), 'transfer-encoding': 'chunked' });
    expect(getStatusAndCode(answer)).toEqual([413, 'payload_too_large']);
  });

  it('requires a key for every route', async () => {
    for (const method of ['GET', 'DELETE', 'POST']) {
      expect(getStatusAndCode(await service.sendRequest({ method, path: getConsentPath('assistant') }))).toEqual([
        401,
        'missing_credentials',
      ]);
    }
    expect(getStatusAndCode(await service.sendRequest({ method: 'GET', path: '/v1/consent' }))).toEqual([
      401,
      'missing_credentials',
    ]);
  });
});

describe('DELETE /v1/consent/{id}', () => {
  it('returns 204, whether or not a consent exists', async () => {
    await accept(service, 'assistant');
    const answer = await deleteConsent(service, 'assistant');
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await isAccepted(service, 'assistant')).toBe(false);
    expect((await deleteConsent(service, 'assistant')).status).toBe(204);
  });

  it('returns 204 for a request that has a content type', async () => {
    await accept(service, 'assistant');
    expect((await service.sendRequest({ method: 'DELETE', path: getConsentPath('assistant'), headers: withKey() })).status).toBe(
      204,
    );
    expect(await isAccepted(service, 'assistant')).toBe(false);
  });

  it('withdraws consent to a deployment that no longer exists or is closed to the user', async () => {
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

describe('GET /v1/consent', () => {
  const list = (key?: string) =>
    service.sendRequest({ method: 'GET', path: '/v1/consent', headers: { 'api-key': key ?? callerKey } });

  it('returns the consents of the caller by deployment, with the accepted form and the time', async () => {
    await accept(service, 'team/mail%20box');
    await accept(service, 'assistant');
    await accept(service, 'assistant', 'other');
    expect((await list()).json).toEqual({
      object: 'list',
      data: [
        { deployment: 'assistant', consent: mailForm, acceptedAt: nowMs },
        {
          deployment: 'team/mail box',
          consent: { 'team/mail box': createForm(true), staffed: createForm(false) },
          acceptedAt: nowMs,
        },
      ],
    });
    expect((await list('other')).json).toMatchObject({ data: [{ deployment: 'assistant' }] });
  });

  it('returns an empty list for a user without consents', async () => {
    expect((await list()).json).toEqual({ object: 'list', data: [] });
  });
});
