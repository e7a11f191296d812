import { describe, expect, it } from 'vitest';
import { MemoryConsentStore } from '#test/memory-consent-store.ts';
import { callerKey, type ServiceOptions } from '#test/start-service.ts';
import { createStoreError } from '#test/store-error.ts';
import { accept, deleteConsent, formOf, getConsent, isAccepted, postConsent, startLandscape } from './support.ts';

const applications = { root: { dependencies: ['leaf'] }, leaf: { requires: true } };
const forgetful = new Error('canary of the store');

/** A store out of reach. */
function brokenBy(fault: Error): Required<ServiceOptions>['consents'] {
  const fail = () => Promise.reject(fault);
  return { find: fail, put: fail, delete: fail, list: fail };
}

/** Writes wait until they are let go. */
class SlowStore extends MemoryConsentStore {
  readonly #waiting: (() => void)[] = [];
  #onPut: () => void = () => undefined;
  readonly putBegan = new Promise<void>((resolve) => {
    this.#onPut = resolve;
  });

  override async put(...[subject, consent]: Parameters<MemoryConsentStore['put']>): Promise<void> {
    this.#onPut();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return super.put(subject, consent);
  }

  letGo(): void {
    for (const resolve of this.#waiting) resolve();
  }
}

describe('a consent store that is unavailable', () => {
  it.each([
    [
      'returns 503 with a time to retry if it fails',
      createStoreError('it does not answer', { cause: forgetful }),
      503,
      'overloaded',
      '1',
    ],
    ['that fails otherwise is a fault of the service', forgetful, 500, 'internal_error', undefined],
  ] as const)('%s, and no call is admitted', async (_what, fault, status, code, retryAfter) => {
    const noted: unknown[] = [];
    await using landscape = await startLandscape(applications, {
      consents: brokenBy(fault),
      reportError: (_message, thrown) => noted.push(thrown),
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
    expect(noted).toHaveLength(4);
    expect(await landscape.callThrough(['root', 'leaf'])).toMatch(new RegExp(`^${status} ${code}: `));
    expect(await landscape.callThrough(['root'])).toBe('done');
  });
});

describe('a submitted form', () => {
  it('is answered only after it is stored', async () => {
    const consents = new SlowStore();
    await using landscape = await startLandscape(applications, { consents });
    const { service } = landscape;
    const consent = await formOf(service, 'root');
    let isAnswered = false;
    const answering = postConsent(service, 'root', { consent }).then((answer) => {
      isAnswered = true;
      return answer;
    });
    await consents.putBegan;
    expect(await landscape.callThrough(['root', 'leaf'])).toMatch(/^403 consent_required/);
    expect(await isAccepted(service, 'root')).toBe(false);
    expect(isAnswered).toBe(false);
    consents.letGo();
    expect((await answering).status).toBe(200);
    expect(await landscape.callThrough(['root', 'leaf'])).toBe('done');
  });

  it('is stored as the user saw it if the graph changes meanwhile', async () => {
    const consents = new SlowStore();
    await using landscape = await startLandscape(applications, { consents });
    const { service } = landscape;
    const answering = postConsent(service, 'root', { consent: await formOf(service, 'root') });
    await consents.putBegan;
    landscape.reload({ ...applications, root: { dependencies: ['leaf', 'more'] }, more: { requires: true } });
    consents.letGo();
    expect((await answering).status).toBe(200);
    expect(await isAccepted(service, 'root')).toBe(false);
    expect(await landscape.callThrough(['root', 'leaf'])).toBe('done');
    expect(await landscape.callThrough(['root', 'more'])).toContain('does not cover more');
  });

  it('and a concurrent withdrawal leave the result of the last one', async () => {
    await using landscape = await startLandscape(applications);
    const { service } = landscape;
    const consent = await formOf(service, 'root');
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all([postConsent(service, 'root', { consent }), deleteConsent(service, 'root')]);
      expect(answers.map(({ status }) => status)).toEqual([200, 204]);
      const said = await landscape.callThrough(['root', 'leaf']);
      expect(said === 'done').toBe(await isAccepted(service, 'root'));
    }
    await accept(service, 'root').catch(() => undefined);
    expect((await deleteConsent(service, 'root')).status).toBe(204);
    expect(await landscape.callThrough(['root', 'leaf'])).toMatch(/^403 consent_required/);
  });
});
