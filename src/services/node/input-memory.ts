import { OwnerQuota } from '#base/isolation/fair-queue.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';

/**
 * Limits the memory of the large inputs of each user: bodies of requests, and stored items that a call continues. A single input
 * may exceed the limit. Inputs with a per-request key count separately, so that a call and the calls of its application fit
 * together.
 */
export class InputMemory {
  readonly #bytes: OwnerQuota;
  readonly #innerBytes: OwnerQuota;

  constructor(maxBytes: number) {
    const createError = (): ParleyError => createTooManyError(maxBytes);
    this.#bytes = new OwnerQuota(maxBytes, createError);
    this.#innerBytes = new OwnerQuota(maxBytes, createError);
  }

  /** Counts bytes until the returned function is called. Throws `overloaded` if the inputs of the user exceed the limit together. */
  hold({ subject, chain }: Pick<Caller, 'subject' | 'chain'>, bytes: number): () => void {
    return (chain === null ? this.#bytes : this.#innerBytes).take(subject, bytes);
  }
}

function createTooManyError(maxBytes: number): ParleyError {
  const message = `Together, the large inputs of your requests in progress can have ${maxBytes} bytes. Send fewer of them at a time.`;
  return new ParleyError('overloaded', message, { retryAfterSeconds: 5, isClientCaused: true });
}
