export interface SignInProblem {
  /**
   * `unavailable`: the service could not reach the provider. `unreachable`: the provider did not respond to the page. `refused`:
   * it responded with an error. `unusable`: it returned no token, or an unrequested one. `stale`: no sign-in was started here.
   * `foreign`: the response names another provider. `insecure`: the browser offers no cryptography for this address.
   */
  readonly kind: 'unavailable' | 'unreachable' | 'refused' | 'unusable' | 'stale' | 'foreign' | 'insecure';
  /** Display name of the provider. */
  readonly name: string;
  /** Error code of the provider (RFC 6749, 4.1.2.1 and 5.2). */
  readonly code?: string;
  /** Message of the provider. */
  readonly detail?: string;
}

/** A failed sign-in. */
export class SignInError extends Error {
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem, cause?: unknown) {
    super(problem.kind, { cause });
    this.name = 'SignInError';
    this.problem = problem;
  }
}
