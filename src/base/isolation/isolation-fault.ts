/** `late`: it took too long; `memory`: it needs more than it may have; `crashed`: it ended otherwise; `busy`: too much of its owner waits already. */
export type IsolationReason = 'late' | 'memory' | 'crashed' | 'busy';

/** Why work that was given away came to nothing. */
export class IsolationFault extends Error {
  override readonly name = 'IsolationFault';
  readonly reason: IsolationReason;

  constructor(reason: IsolationReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
