import type { CallOutcome, Operation } from '../telemetry.ts';
import type { UsageDetails } from './usage-details.ts';

/** What one call used; nothing of its content. */
export interface UsageRecord extends UsageDetails {
  /** Unique; a record that is appended twice counts once. */
  readonly id: string;
  /** Request id of the call. */
  readonly requestId: string;
  /** Milliseconds since the epoch, of the call's begin. */
  readonly atMs: number;
  readonly subject: string;
  readonly project: string;
  readonly deployment: string;
  /** Ids from the root to this deployment. */
  readonly path: readonly string[];
  readonly operation: Operation;
  readonly outcome: CallOutcome;
  readonly status: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Billionths of a USD. */
  readonly cost: number;
  readonly durationMs: number;
  /** Id of the key that its user made and it began with; absent: it came with a token, or a key of the configuration. */
  readonly keyId?: string;
  /** Id of the session or conversation that the client named. */
  readonly session?: string;
}

/** What somebody did that others may have to answer for later. */
export interface AuditRecord {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** Such as `consent.accepted`, `consent.withdrawn`, `application.saved`, `application.deleted`, `application.evaluated`, `chat.shared`, `key.made`, `key.rotated`, `key.deleted`, `key.revoked`, `user.blocked`, `user.unblocked`, `configuration.loaded`, `configuration.refused`, `credentials.refused`. */
  readonly action: string;
  /** User subject; undefined if nobody is known. */
  readonly subject: string | undefined;
  /** The deployment, file, key or configuration it was done to. */
  readonly object: string | undefined;
  readonly requestId: string | undefined;
  /** Further facts; never content or secrets. */
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

/** Notes in the audit log what was done; neither waits nor throws. */
export type NoteAudit = (event: Pick<AuditRecord, 'action' | 'subject' | 'object'> & Partial<AuditRecord>) => void;

/** What sums of usage are told apart by; `day` is `YYYY-MM-DD` in UTC. */
export type UsageKey = 'day' | 'deployment' | 'subject' | 'project';

export interface UsageAmounts {
  readonly calls: number;
  /** Those of them that failed for our or an upstream's fault. */
  readonly failedCalls: number;
  /** Those of them that the caller was refused, such as for a limit or a request that cannot be. */
  readonly refusedCalls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Billionths of a USD. */
  readonly cost: number;
}

export type UsageSum<Key extends UsageKey> = UsageAmounts & Readonly<Record<Key, string>>;

/** Which calls count or are listed. An absent field does not filter. */
export interface UsageFilter {
  readonly subject?: string | undefined;
  readonly deployment?: string | undefined;
  readonly project?: string | undefined;
  /** Id of a key that its user created. */
  readonly keyId?: string | undefined;
  readonly requestId?: string | undefined;
  /** Id of the session or conversation of a client. */
  readonly session?: string | undefined;
}

export interface UsageQuery<Key extends UsageKey> extends UsageFilter {
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
  /** None: one sum over everything. */
  readonly by: readonly Key[];
  /** How many sums at most; absent: all. */
  readonly limit?: number;
}

/** Which calls are listed; what is undefined is not asked for. */
export interface CallsQuery extends UsageFilter {
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
  readonly outcome: CallOutcome | undefined;
  /** Only older ones: for the next page, `atMs` and `id` of the last one of this page. */
  readonly before: { readonly atMs: number; readonly id: string } | undefined;
  readonly limit: number;
}

export interface AuditQuery {
  /** Only older records: for the next page, `atMs` of the last one of this page. */
  readonly beforeMs: number;
  /** Its `id`: then the others of the same millisecond are not left out. */
  readonly beforeId?: string;
  /** Only one action, such as `consent.accepted`, or a family of them, such as `consent`; absent: all. */
  readonly kind?: string | undefined;
  readonly limit: number;
}

/**
 * Port for records that are appended and never changed. For ratings, a later record with an existing ID replaces the earlier one.
 * Throws StoreFault.
 */
export interface Journal {
  appendUsage(records: readonly UsageRecord[]): Promise<void>;
  appendAudit(records: readonly AuditRecord[]): Promise<void>;
  /**
   * Days in their order, and of one day by the other keys; without days the most costly first. What an application uses holds
   * what it calls to answer: only sums by deployment count such inner calls beside it, all others leave them out, but for their cost.
   */
  sumUsage<Key extends UsageKey>(query: UsageQuery<Key>): Promise<readonly UsageSum<Key>[]>;
  /** One by one, the newest first, those of one millisecond by id; inner calls of applications among them. */
  listCalls(query: CallsQuery): Promise<readonly UsageRecord[]>;
  /** The newest first, those of one millisecond by id. */
  readAudit(query: AuditQuery): Promise<readonly AuditRecord[]>;
}
