import type { ChatRequest } from '#contract/chat-request.ts';

/** As many as anybody reads. */
const mostNames = 1000;

/** Collects which fields of a caller's request do not reach a model. */
export class IgnoredFields {
  readonly names = new Set<string>();
  readonly #asked: ChatRequest;

  /** `asked` is the request as the caller sent it: of defaults that a deployment has nobody is told. */
  constructor(asked: ChatRequest) {
    this.#asked = asked;
  }

  /** Forgets what an upstream that failed was not sent: another one is asked. */
  reset(): void {
    if (this.names.size > 0) this.names.clear();
  }

  note(fields: readonly string[]): void {
    for (const field of fields) {
      if (this.names.size < mostNames && Object.hasOwn(this.#asked, field)) this.names.add(field);
    }
  }
}
