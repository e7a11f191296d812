export interface SignInProblem {
  /**
   * `unavailable`: the service could not ask the provider where to go. `unreachable`: the provider did not answer the page.
   * `refused`: it answered with an error. `unusable`: it gave no token, or one that was not asked for. `stale`: nothing that was
   * begun here. `foreign`: the answer names another provider. `insecure`: the browser gives no cryptography to this address.
   */
  readonly kind: 'unavailable' | 'unreachable' | 'refused' | 'unusable' | 'stale' | 'foreign' | 'insecure';
  /** How people call the provider. */
  readonly name: string;
  /** The provider's code of the error (RFC 6749, 4.1.2.1 and 5.2). */
  readonly code?: string;
  /** What the provider said. */
  readonly detail?: string;
}

/** A sign-in that came to nothing. */
export class SignInError extends Error {
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem, cause?: unknown) {
    super(problem.kind, { cause });
    this.name = 'SignInError';
    this.problem = problem;
  }
}
