import type { ConsentStore, StoredConsent } from '#domain/consent/consent.ts';

/** Consent store of one test. Stores forms as text, like a persistent store. */
export class MemoryConsentStore implements ConsentStore {
  readonly #bySubject = new Map<string, Map<string, string>>();

  async find(subject: string, deployment: string): Promise<StoredConsent | undefined> {
    const text = this.#bySubject.get(subject)?.get(deployment);
    return text === undefined ? undefined : (JSON.parse(text) as StoredConsent);
  }

  async put(subject: string, consent: StoredConsent): Promise<void> {
    const consents = this.#bySubject.get(subject) ?? new Map<string, string>();
    this.#bySubject.set(subject, consents.set(consent.deployment, JSON.stringify(consent)));
  }

  async delete(subject: string, deployment: string): Promise<void> {
    this.#bySubject.get(subject)?.delete(deployment);
  }

  async list(subject: string): Promise<readonly StoredConsent[]> {
    const consents = [...(this.#bySubject.get(subject)?.values() ?? [])].map((text) => JSON.parse(text) as StoredConsent);
    return consents.sort((left, right) => (left.deployment < right.deployment ? -1 : 1));
  }
}
