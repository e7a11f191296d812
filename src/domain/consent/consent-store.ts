import type { ConsentForm } from '#contract/consent.ts';

/** What a user accepted for a deployment. */
export interface StoredConsent {
  readonly deployment: string;
  readonly form: ConsentForm;
  /** Milliseconds since the epoch. */
  readonly acceptedAtMs: number;
}

/** Port: the consents of users, kept as `Users/<user_subject>/user_consent/<deployment_id>`. Throws StoreFault. */
export interface ConsentStore {
  find(subject: string, deployment: string): Promise<StoredConsent | undefined>;
  /** Replaces what was stored; durable once it resolves. */
  put(subject: string, consent: StoredConsent): Promise<void>;
  /** Gone on every node once it resolves; nothing to do if there was none. */
  delete(subject: string, deployment: string): Promise<void>;
  /** A user's own, ordered by deployment. */
  list(subject: string): Promise<readonly StoredConsent[]>;
}
