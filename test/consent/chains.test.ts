import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { MemoryConsentStore } from '#test/memory-consent-store.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, getChatPath, withKey } from '#test/start-service.ts';
import {
  type Applications,
  accept,
  createForm,
  deleteConsent,
  getConsent,
  getConsentPath,
  isAccepted,
  type Landscape,
  postConsent,
  startLandscape,
} from './support.ts';

const applications: Applications = {
  root: { dependencies: ['mid', 'model', 'team/own mail', 'closed'] },
  mid: { dependencies: ['leaf'] },
  leaf: { dependencies: ['guarded', 'vectors', 'root'], requiresConsent: true },
  'team/own mail': { requiresConsent: true },
  closed: { requiresConsent: true, closed: true },
  stranger: { dependencies: ['leaf'] },
  selfish: { dependencies: ['selfish'], requiresConsent: true },
  constructor: {},
  toString: { requiresConsent: true },
};

class WatchedStore extends MemoryConsentStore {
  lookups = 0;

  override find(subject: string, deployment: string) {
    this.lookups += 1;
    return super.find(subject, deployment);
  }
}

let consents: WatchedStore;
let landscape: Landscape;

beforeAll(async () => {
  consents = new WatchedStore();
  landscape = await startLandscape(applications, { consents });
});

beforeEach(async () => {
  landscape.reload(applications);
  landscape.sideEffects.clear();
  for (const subject of ['key:test', 'key:other'])
    for (const { deployment } of await consents.list(subject)) await consents.delete(subject, deployment);
});

afterAll(() => landscape[Symbol.asyncDispose]());

/** Returns how many requests the application received. */
function countCalls(id: string): number {
  return landscape.host.requests.filter(({ path }) => path === `/app/${encodeURIComponent(id)}`).length;
}

function formatError(target: string, root: string, suffix = ''): string {
  return `403 consent_required: ${target} needs your consent before ${root} may use it${suffix}`;
}

describe('a call in a chain that requires consent', () => {
  it('is rejected before it is sent, and the error names the root', async () => {
    const before = countCalls('leaf');
    const outcome = await landscape.callThrough(['root', 'mid', 'leaf']);
    expect(outcome).toBe(formatError('leaf', 'root', '. GET /v1/consent/root returns the form to accept.'));
    expect(countCalls('leaf')).toBe(before);
  });

  it.each([
    [['root', 'mid', 'leaf']],
    [['root', 'mid', 'leaf', 'guarded']],
    [['root', 'mid', 'leaf', 'vectors']],
    [['root', 'mid', 'leaf', 'root', 'leaf']],
    [['mid', 'guarded']],
    [['mid', 'vectors']],
  ])('succeeds after the user accepts the form of the root: %j', async (via) => {
    expect(await landscape.callThrough(via)).toMatch(/^403 consent_required/);
    await accept(landscape.service, via[0] ?? '');
    expect(await landscape.callThrough(via)).toBe('done');
    expect(await landscape.callThrough(via, 'same-project')).toBe('done');
  });

  it('is rejected if only another user has accepted the form', async () => {
    await accept(landscape.service, 'root', 'other');
    expect(await landscape.callThrough(['root', 'mid', 'leaf'])).toMatch(/^403 consent_required/);
    expect(await landscape.callThrough(['root', 'mid', 'leaf'], 'other')).toBe('done');
  });

  it('requires consent to the root of the same chain', async () => {
    await accept(landscape.service, 'root');
    await accept(landscape.service, 'leaf');
    expect(await landscape.callThrough(['mid', 'leaf'])).toContain('GET /v1/consent/mid ');
    await deleteConsent(landscape.service, 'root');
    await accept(landscape.service, 'mid');
    expect(await landscape.callThrough(['mid', 'leaf'])).toBe('done');
    expect(await landscape.callThrough(['root', 'mid', 'leaf'])).toContain('GET /v1/consent/root ');
  });

  it('is rejected if the form lacks a deployment of its chain', async () => {
    await accept(landscape.service, 'root');
    expect(await landscape.callThrough(['root', 'stranger', 'leaf'])).toBe(
      formatError('leaf', 'root', ', and your consent does not cover stranger. GET /v1/consent/root returns the current form.'),
    );
  });

  it('is rejected if the form lacks its target', async () => {
    await accept(landscape.service, 'root');
    expect(await landscape.callThrough(['root', 'mid', 'selfish'])).toContain('does not cover selfish');
  });

  it('is checked by deployment ID, in every encoding of the path', async () => {
    const responses: TestResponse[] = [];
    landscape.sideEffects.set('root', async (key) => {
      for (const id of ['team/own%20mail', 'team%2Fown%20mail', '%74eam/ow%6E%20mail'])
        responses.push(
          await sendRequest(landscape.service.url, {
            path: getChatPath(id),
            headers: withKey(key),
            body: { messages: [{ role: 'user', content: '[]' }] },
          }),
        );
      const body = { model: 'team/own mail', messages: [{ role: 'user', content: '[]' }] };
      responses.push(await sendRequest(landscape.service.url, { path: '/v1/chat/completions', headers: withKey(key), body }));
    });
    await landscape.callThrough(['root']);
    expect(responses.map(({ error }) => error.code)).toEqual(Array(4).fill('consent_required'));
    await accept(landscape.service, '%72oot');
    responses.length = 0;
    await sendRequest(landscape.service.url, {
      path: getChatPath('ro%6Ft'),
      headers: withKey(),
      body: { messages: [{ role: 'user', content: '[]' }] },
    });
    expect(responses.map(({ status }) => status)).toEqual(Array(4).fill(200));
  });

  it('is rejected if the form lacks a deployment whose ID is an Object property', async () => {
    await consents.put('key:test', { deployment: 'constructor', form: {}, acceptedAtMs: 0 });
    expect(await landscape.callThrough(['constructor', 'toString'])).toContain('does not cover constructor');
    await consents.put('key:test', { deployment: 'constructor', form: { constructor: createForm(false) }, acceptedAtMs: 0 });
    expect(await landscape.callThrough(['constructor', 'toString'])).toContain('does not cover toString');
  });

  it('is rejected for an application that calls itself without consent', async () => {
    expect(await landscape.callThrough(['selfish'])).toBe('done');
    expect(await landscape.callThrough(['selfish', 'selfish'])).toBe(
      formatError('selfish', 'selfish', '. GET /v1/consent/selfish returns the form to accept.'),
    );
    await accept(landscape.service, 'selfish');
    expect(await landscape.callThrough(['selfish', 'selfish'])).toBe('done');
  });
});

describe('a consent', () => {
  const via = ['root', 'mid', 'leaf'];

  it('stops admitting calls after it is withdrawn', async () => {
    await accept(landscape.service, 'root');
    expect(await landscape.callThrough(via)).toBe('done');
    await deleteConsent(landscape.service, 'root');
    expect(await landscape.callThrough(via)).toMatch(/^403 consent_required/);
  });

  it('stops admitting further calls of a chain in progress after it is withdrawn', async () => {
    await accept(landscape.service, 'root');
    landscape.sideEffects.set('mid', async () => void (await deleteConsent(landscape.service, 'root')));
    const before = countCalls('leaf');
    expect(await landscape.callThrough(via)).toMatch(/^403 consent_required/);
    expect(countCalls('leaf')).toBe(before);
  });

  it('admits the next call of a chain in progress', async () => {
    landscape.sideEffects.set('mid', () => accept(landscape.service, 'root'));
    expect(await landscape.callThrough(via)).toBe('done');
  });

  it('covers only the accepted form after the graph has grown', async () => {
    await accept(landscape.service, 'root');
    landscape.reload({ ...applications, mid: { dependencies: ['leaf', 'stranger'] } });
    expect(await isAccepted(landscape.service, 'root')).toBe(false);
    expect(await landscape.callThrough(via)).toBe('done');
    expect(await landscape.callThrough(['root', 'mid', 'stranger', 'leaf'])).toContain('does not cover stranger');
    await accept(landscape.service, 'root');
    expect(await landscape.callThrough(['root', 'mid', 'stranger', 'leaf'])).toBe('done');
  });

  it('does not cover a deployment that starts to require consent later', async () => {
    await accept(landscape.service, 'root');
    landscape.reload({ ...applications, mid: { dependencies: ['leaf'], requiresConsent: true } });
    expect(await landscape.callThrough(via)).toContain('does not cover mid');
    await accept(landscape.service, 'root');
    expect(await landscape.callThrough(via)).toBe('done');
  });

  it('is no longer required after the configuration drops the requirement', async () => {
    landscape.reload({ ...applications, leaf: {} });
    expect(await landscape.callThrough(via)).toBe('done');
  });
});

describe('an application', () => {
  it('cannot see, give, or withdraw the consent of its user', async () => {
    await accept(landscape.service, 'mid');
    const { service } = landscape;
    const { json: form } = await getConsent(service, 'root');
    const responses: TestResponse[] = [];
    landscape.sideEffects.set('root', async (key) => {
      responses.push(
        await getConsent(service, 'root', key),
        await postConsent(service, 'root', form, key),
        await postConsent(service, 'none', form, key),
        await postConsent(service, 'root', '{', key),
        await deleteConsent(service, 'mid', key),
        await service.sendRequest({ method: 'GET', path: '/v1/consent', headers: { 'api-key': key } }),
        await service.sendRequest({
          path: getConsentPath('root'),
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: form,
        }),
      );
    });
    expect(await landscape.callThrough(['root', 'mid', 'leaf'])).toMatch(/^403 consent_required/);
    expect(responses.map(({ status, error }) => [status, error.code])).toEqual(Array(7).fill([403, 'access_denied']));
    expect((await consents.list('key:test')).map(({ deployment }) => deployment)).toEqual(['mid']);
  });

  it('receives the access error before the consent error, and both before body validation', async () => {
    const responses: TestResponse[] = [];
    landscape.sideEffects.set('root', async (key) => {
      for (const [id, body] of [
        ['closed', '{'],
        ['leaf', '{'],
        ['leaf', { messages: [] }],
        ['leaf', { messages: hello, stream: true }],
        ['mid', '{'],
      ] as const)
        responses.push(await sendRequest(landscape.service.url, { path: getChatPath(id), headers: withKey(key), body }));
    });
    await landscape.callThrough(['root']);
    expect(responses.map(({ status, error }) => [status, error.code])).toEqual([
      [403, 'access_denied'],
      [403, 'consent_required'],
      [403, 'consent_required'],
      [403, 'consent_required'],
      [400, 'invalid_json'],
    ]);
  });
});

describe('the consent store', () => {
  it('is not queried for direct calls or for targets that require no consent', async () => {
    const before = consents.lookups;
    expect(await landscape.callThrough(['root', 'mid', 'stranger', 'model'])).toBe('done');
    expect(await landscape.callThrough(['leaf'])).toBe('done');
    expect((await landscape.service.chat('guarded', { messages: hello })).status).toBe(200);
    expect(consents.lookups).toBe(before);
    expect(await landscape.callThrough(['root', 'leaf'], callerKey)).toMatch(/^403/);
    expect(consents.lookups).toBe(before + 1);
  });
});
