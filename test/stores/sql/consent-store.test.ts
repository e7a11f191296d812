import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import '#test/same-cases.ts';
import { expect, it } from 'vitest';
import type { StoredConsent } from '#domain/consent/consent.ts';
import { StoreError } from '#domain/store-error.ts';
import { SqlConsentStore } from '#stores/sql/consents/consent-store.ts';
import { describeOnEach } from '#test/sql-engines.ts';

function createConsent(deployment: string, acceptedAtMs = 1_763_700_000_123): StoredConsent {
  return { deployment, form: { [deployment]: { consentRequired: false }, other: { consentRequired: true } }, acceptedAtMs };
}

describeOnEach('stored consents', (node) => {
  const store = () => new SqlConsentStore(node.database);

  it('are read unchanged on every node immediately', async () => {
    const subject = randomUUID();
    await store().put(subject, createConsent('app'));
    expect(await store().find(subject, 'app')).toEqual(createConsent('app'));
    expect(await new SqlConsentStore(node.otherDatabase).find(subject, 'app')).toEqual(createConsent('app'));
  });

  it('are stored for one user and one deployment', async () => {
    const subject = randomUUID();
    await store().put(subject, createConsent('app'));
    expect(await store().find(`${subject}x`, 'app')).toBeUndefined();
    expect(await store().find(subject.toUpperCase(), 'app')).toBeUndefined();
    expect(await store().find(subject, 'App')).toBeUndefined();
    expect(await store().find(subject, 'app ')).toBeUndefined();
    expect(await store().list(`${subject}x`)).toEqual([]);
  });

  it('are replaced completely', async () => {
    const subject = randomUUID();
    await store().put(subject, createConsent('app'));
    const next = { deployment: 'app', form: { app: { consentRequired: true } }, acceptedAtMs: 7 };
    await store().put(subject, next);
    expect(await store().list(subject)).toEqual([next]);
  });

  it('equal a single write after concurrent writes', async () => {
    const subject = randomUUID();
    const all = Array.from({ length: 20 }, (_, index) => ({
      deployment: 'app',
      form: { app: { consentRequired: true }, [`version ${index}`]: { consentRequired: false } },
      acceptedAtMs: index,
    }));
    await Promise.all(
      all.map((consent, index) => new SqlConsentStore(index % 2 ? node.otherDatabase : node.database).put(subject, consent)),
    );
    const [stored, ...remaining] = await store().list(subject);
    expect(remaining).toEqual([]);
    expect(stored).toEqual(all[stored?.acceptedAtMs ?? -1]);
  });

  it('are withdrawn on every node immediately, and can be withdrawn again', async () => {
    const subject = randomUUID();
    await store().put(subject, createConsent('app'));
    await store().put(subject, createConsent('another'));
    await new SqlConsentStore(node.otherDatabase).delete(subject, 'app');
    expect(await store().find(subject, 'app')).toBeUndefined();
    expect(await store().list(subject)).toEqual([createConsent('another')]);
    await store().delete(subject, 'app');
  });

  it('are listed by code points', async () => {
    const subject = randomUUID();
    const ordered = ['', ' ', '-', 'A', 'Z', '_', 'a', 'ab', 'b', 'ß', 'é', '中', '\uff5e', '\u{1d4b3}'];
    for (const deployment of ordered.toReversed()) await store().put(subject, createConsent(deployment));
    expect((await store().list(subject)).map(({ deployment }) => deployment)).toEqual(ordered);
  });

  it('accept any text as an ID', async () => {
    const subject = randomUUID();
    for (const id of ['__proto__', 'constructor', "'; drop table consents; --", '%', '_', '\\', '"', '$1', '?', 'a/b/c', '\n']) {
      await store().put(`${subject}${id}`, createConsent(id));
      const found = await store().find(`${subject}${id}`, id);
      expect(Object.entries(found?.form ?? {})).toEqual(Object.entries(createConsent(id).form));
    }
    const text = fc.string({ unit: 'binary', maxLength: 200 }).filter((one) => !one.includes('\0'));
    await fc.assert(
      fc.asyncProperty(text, text, async (one, deployment) => {
        await store().put(`${subject}${one}`, createConsent(deployment));
        expect((await store().find(`${subject}${one}`, deployment))?.deployment).toBe(deployment);
      }),
      { numRuns: 50 },
    );
  });

  it('are never found or stored with an ID that a database engine would change', async () => {
    const subject = randomUUID();
    await store().put(`${subject}\ufffd`, createConsent('\ufffd'));
    await store().put(subject, createConsent('app'));
    for (const invalidText of ['\ud800', '\udfff', '\0', 'x'.repeat(1281), 'é'.repeat(641)]) {
      await expect(store().put(`${subject}${invalidText}`, createConsent('app'))).rejects.toThrow(StoreError);
      await expect(store().put(subject, createConsent(invalidText))).rejects.toThrow(StoreError);
      expect(await store().find(`${subject}${invalidText}`, 'app')).toBeUndefined();
      expect(await store().find(`${subject}\ufffd`, invalidText)).toBeUndefined();
      expect(await store().list(`${subject}${invalidText}`)).toEqual([]);
      await store().delete(subject, `app${invalidText}`);
    }
    const longest = subject + 'é'.repeat((1280 - subject.length) / 2);
    await store().put(longest, createConsent(longest));
    expect(await store().find(longest, longest)).toEqual(createConsent(longest));
  });
});
