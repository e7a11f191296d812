import type { StoredApplication } from '#domain/deployments/application-store.ts';

interface Known {
  readonly application: StoredApplication;
  readonly chars: number;
}

/** Of sealed text; what was made of it takes about as many bytes. */
const defaultMostChars = 32 * 1024 ** 2;

/** Applications that were opened before: as long as their ETag is the same they need not be decrypted and parsed again. */
export class KnownApplications {
  readonly #mostChars: number;
  /** Those used last stand last. */
  readonly #byId = new Map<string, Known>();
  #chars = 0;

  constructor(mostChars = defaultMostChars) {
    this.#mostChars = mostChars;
  }

  /** As it was when it was last opened. */
  find(id: string): StoredApplication | undefined {
    const known = this.#byId.get(id);
    if (known === undefined) return undefined;
    this.#byId.delete(id);
    this.#byId.set(id, known);
    return known.application;
  }

  /** `chars`: how long its sealed text is. */
  add(application: StoredApplication, chars: number): void {
    this.#forget(application.id);
    this.#byId.set(application.id, { application, chars });
    this.#chars += chars;
    for (const id of this.#byId.keys()) {
      if (this.#chars <= this.#mostChars) return;
      this.#forget(id);
    }
  }

  #forget(id: string): void {
    this.#chars -= this.#byId.get(id)?.chars ?? 0;
    this.#byId.delete(id);
  }
}
