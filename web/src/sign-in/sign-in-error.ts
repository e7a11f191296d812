export interface SignInProblem {
  /**
   * `unavailable`: the service could not reach the provider. `unreachable`: the provider did not respond to the page. `rejected`:
   * it responded with an error. `unusable`: it returned no token, or one of another sign-in. `stale`: this tab started no sign-in.
   * `foreign`: the response names another provider. `insecure`: the browser offers no cryptography for this address.
   */
  readonly kind: 'unavailable' | 'unreachable' | 'rejected' | 'unusable' | 'stale' | 'foreign' | 'insecure';
  /** Display name of the provider. */
  readonly name: string;
  /** Error code of the provider (RFC 6749, 4.1.2.1 and 5.2). */
  readonly code?: string;
  /** Message of the provider. */
  readonly detail?: string;
}

/** Thrown if a sign-in fails. */
export class SignInError extends Error {
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem, cause?: unknown) {
    super(problem.kind, { cause });
    this.name = 'SignInError';
    this.problem = problem;
  }
}
