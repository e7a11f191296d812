import { describe, expect, it } from 'vitest';
import { MemoryConsentStore } from '#test/memory-consent-store.ts';
import { callerKey, type ServiceOptions } from '#test/start-service.ts';
import { createStoreError } from '#test/store-error.ts';
import { accept, deleteConsent, getConsent, getForm, isAccepted, postConsent, startLandscape } from './support.ts';

const applications = { root: { dependencies: ['leaf'] }, leaf: { requiresConsent: true } };
const storeError = new Error('canary of the store');

/** Returns a store that rejects every operation with this error. */
function createFailingStore(error: Error): Required<ServiceOptions>['consents'] {
  const fail = () => Promise.reject(error);
  return { find: fail, put: fail, delete: fail, list: fail };
}

/** Holds writes until `release` is called. */
class SlowStore extends MemoryConsentStore {
  readonly #resolvers: (() => void)[] = [];
  #onPut: () => void = () => undefined;
  readonly putStarted = new Promise<void>((resolve) => {
    this.#onPut = resolve;
  });

  override async put(...[subject, consent]: Parameters<MemoryConsentStore['put']>): Promise<void> {
    this.#onPut();
    await new Promise<void>((resolve) => this.#resolvers.push(resolve));
    return super.put(subject, consent);
  }

  release(): void {
    for (const resolve of this.#resolvers) resolve();
  }
}

describe('a consent store that fails', () => {
  it.each([
    [
      '503 with Retry-After, for a store error',
      createStoreError('it does not answer', { cause: storeError }),
      503,
      'overloaded',
      '1',
    ],
    ['500, for any other error', storeError, 500, 'internal_error', undefined],
  ] as const)('makes consent requests and inner calls return %s', async (_description, cause, status, code, retryAfter) => {
    const reported: unknown[] = [];
    await using landscape = await startLandscape(applications, {
      consents: createFailingStore(cause),
      reportError: (_message, error) => reported.push(error),
    });
    const { service } = landscape;
    const answers = [
      await getConsent(service, 'root'),
      await postConsent(service, 'root', { consent: { root: { consentRequired: false }, leaf: { consentRequired: true } } }),
      await deleteConsent(service, 'root'),
      await service.sendRequest({ method: 'GET', path: '/v1/consent', headers: { 'api-key': callerKey } }),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.error.code, answer.headers['retry-after']]).toEqual([status, code, retryAfter]);
      expect(answer.text).not.toContain('canary');
    }
    expect(reported).toHaveLength(4);
    expect(await landscape.callThrough(['root', 'leaf'])).toMatch(new RegExp(`^${status} ${code}: `));
    expect(await landscape.callThrough(['root'])).toBe('done');
  });
});

describe('a submitted form', () => {
  it('is acknowledged only after it is stored', async () => {
    const consents = new SlowStore();
    await using landscape = await startLandscape(applications, { consents });
    const { service } = landscape;
    const consent = await getForm(service, 'root');
    let isAnswered = false;
    const exchange = postConsent(service, 'root', { consent }).then((answer) => {
      isAnswered = true;
      return answer;
    });
    await consents.putStarted;
    expect(await landscape.callThrough(['root', 'leaf'])).toMatch(/^403 consent_required/);
    expect(await isAccepted(service, 'root')).toBe(false);
    expect(isAnswered).toBe(false);
    consents.release();
    expect((await exchange).status).toBe(200);
    expect(await landscape.callThrough(['root', 'leaf'])).toBe('done');
  });

  it('is stored as the user saw it if the graph changes before the write ends', async () => {
    const consents = new SlowStore();
    await using landscape = await startLandscape(applications, { consents });
    const { service } = landscape;
    const exchange = postConsent(service, 'root', { consent: await getForm(service, 'root') });
    await consents.putStarted;
    landscape.reload({ ...applications, root: { dependencies: ['leaf', 'more'] }, more: { requiresConsent: true } });
    consents.release();
    expect((await exchange).status).toBe(200);
    expect(await isAccepted(service, 'root')).toBe(false);
    expect(await landscape.callThrough(['root', 'leaf'])).toBe('done');
    expect(await landscape.callThrough(['root', 'more'])).toContain('does not cover more');
  });

  it('leaves a consistent state if it is withdrawn concurrently', async () => {
    await using landscape = await startLandscape(applications);
    const { service } = landscape;
    const consent = await getForm(service, 'root');
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all([postConsent(service, 'root', { consent }), deleteConsent(service, 'root')]);
      expect(answers.map(({ status }) => status)).toEqual([200, 204]);
      const outcome = await landscape.callThrough(['root', 'leaf']);
      expect(outcome === 'done').toBe(await isAccepted(service, 'root'));
    }
    await accept(service, 'root').catch(() => undefined);
    expect((await deleteConsent(service, 'root')).status).toBe(204);
    expect(await landscape.callThrough(['root', 'leaf'])).toMatch(/^403 consent_required/);
  });
});
