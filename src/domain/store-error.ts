import { ParleyError } from '#contract/errors/errors.ts';

/**
 * What rests in a store cannot be had or kept now; 503 for callers whose call needs it. They are shown in
 * `what` why: half a sentence that may be shown.
 */
export class StoreError extends ParleyError {
  override readonly name = 'StoreError';

  constructor(reason: string, { cause }: ErrorOptions = {}) {
    super('overloaded', `The store cannot be used at the moment: ${reason}; try again.`, { cause, retryAfterSeconds: 1 });
  }
}
