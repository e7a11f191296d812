import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { Made } from './deployment.ts';
import type { WriteCondition } from './write-condition.ts';

/** An application made through the API (contract 2, 3). */
export interface StoredApplication extends Made {
  /** `applications/<bucket>/<path>`. */
  readonly id: string;
  /** As it was written, without defaults but with its secrets; at rest it is encrypted. */
  readonly entry: ApplicationEntry;
  /** Another after each change; without quotes. */
  readonly etag: string;
}

/** Port: applications made by users. Each step is atomic; writes are durable once they resolve. Throws StoreFault. */
export interface ApplicationStore {
  find(id: string): Promise<StoredApplication | undefined>;
  /** Keeps `createdAtMs` and `owner` of the one that is there; undefined where the condition does not hold. */
  put(application: StoredApplication, condition: WriteCondition): Promise<StoredApplication | undefined>;
  /** Whether it happened: `condition` may not hold, or there may be none. */
  delete(id: string, condition: WriteCondition): Promise<'deleted' | 'absent' | 'condition_failed'>;
  /** All of them, ordered by id: those of one owner, or everybody's. */
  list(owner: string | undefined): Promise<readonly StoredApplication[]>;
}
