import type { AuditAction } from '#contract/administration/audit-actions.ts';
import type { ratedAction } from '#contract/features-request.ts';
import type { Tags } from '#contract/tags.ts';
import type { CallOutcome, Operation } from '../calls/telemetry.ts';
import type { UsageDetails } from './usage.ts';

/** Usage of one call, without its content. */
export interface UsageRecord extends UsageDetails {
  /** Unique ID. A record that is appended twice counts once. */
  readonly id: string;
  /** Request ID of the call. */
  readonly requestId: string;
  /** Start of the call in milliseconds since the epoch. */
  readonly atMs: number;
  readonly subject: string;
  readonly project: string;
  readonly deployment: string;
  /** IDs from the root to this deployment. */
  readonly path: readonly string[];
  readonly operation: Operation;
  readonly outcome: CallOutcome;
  readonly status: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Billionths of a USD. */
  readonly cost: number;
  readonly durationMs: number;
  /** ID of the key that the call started with. Undefined for a token, and for a configured key without a name. */
  readonly keyId?: string;
  /** ID of the session or conversation from the client. */
  readonly session?: string;
  /** Tags, including those of the project. */
  readonly tags?: Tags;
}

/** An auditable action. */
export interface AuditRecord {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** An `AuditAction`, or an action that an earlier version wrote. */
  readonly action: string;
  /** User subject. Undefined if the user is unknown. */
  readonly subject: string | undefined;
  /** Deployment, file, key, or configuration that the action applies to. */
  readonly object: string | undefined;
  readonly requestId: string | undefined;
  /** Further properties, without content and secrets. */
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

/** Adds an event to the audit log. Does not wait or throw. */
export type RecordAudit = (
  event: { readonly action: AuditAction | typeof ratedAction } & Pick<AuditRecord, 'subject' | 'object'> & Partial<AuditRecord>,
) => void;

/** Keys to group usage by. `day` is `YYYY-MM-DD` in UTC. `tag:` is followed by the name of a tag. */
export type UsageKey = 'day' | 'deployment' | 'subject' | 'project' | 'keyId' | 'session' | `tag:${string}`;

export interface UsageAmounts {
  readonly calls: number;
  /** Number of calls that failed because of Parley or an upstream. */
  readonly failedCalls: number;
  /** Number of calls that were rejected, for example because of a limit or an invalid request. */
  readonly refusedCalls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Billionths of a USD. */
  readonly cost: number;
}

/** Usage of one group. `keyId` or a tag is null for calls that lack it. */
export type UsageSum<Key extends UsageKey> = UsageAmounts & {
  readonly [Name in Key]: Name extends 'keyId' | `tag:${string}` ? string | null : string;
};

/** Selects calls. An undefined field does not filter. */
export interface UsageFilter {
  readonly subject?: string | undefined;
  readonly deployment?: string | undefined;
  readonly project?: string | undefined;
  /** ID of the API key, as in `UsageRecord`. */
  readonly keyId?: string | undefined;
  readonly requestId?: string | undefined;
  /** ID of the session or conversation from the client. */
  readonly session?: string | undefined;
}

export interface UsageQuery<Key extends UsageKey> extends UsageFilter {
  readonly fromMs: number;
  /** Exclusive end. */
  readonly toMs: number;
  /** Grouping. An empty list returns one sum. */
  readonly by: readonly Key[];
  /** Whether sums by deployment also leave out inner calls, so that they add up to the total. */
  readonly isDirect?: boolean;
  /** Maximum number of sums. If undefined, all sums. */
  readonly limit?: number;
  /** `keys` orders the sums by their keys, for reading them page by page. Default: see `Journal.sumUsage`. */
  readonly order?: 'keys';
  /** Selects only sums after these keys. For the next page, the last sum of this page. Requires `order`. */
  readonly after?: Readonly<Partial<Record<UsageKey, string | null>>>;
}

/** Selects a page of calls. An undefined field does not filter. */
export interface CallsQuery extends UsageFilter {
  readonly fromMs: number;
  /** Exclusive end. */
  readonly toMs: number;
  /** ID of one record. */
  readonly id?: string | undefined;
  readonly outcome: CallOutcome | undefined;
  readonly status?: number | undefined;
  /** Selects only older calls. For the next page, `atMs` and `id` of the last call of this page. */
  readonly before: { readonly atMs: number; readonly id: string } | undefined;
  readonly limit: number;
}

export interface AuditQuery {
  /** Selects only older records. For the next page, `atMs` of the last record of this page. */
  readonly beforeMs: number;
  /** `id` of the last record, so that further records of the same millisecond are included. */
  readonly beforeId?: string;
  /** An action, such as `consent.accepted`, or a group of actions, such as `consent`. Undefined selects all. */
  readonly kind?: string | undefined;
  readonly limit: number;
}

/**
 * Port for records that are appended and never changed. For ratings, a later record with an existing ID replaces the earlier
 * one. Throws `StoreError`.
 */
export interface Journal {
  appendUsage(records: readonly UsageRecord[]): Promise<void>;
  appendAudit(records: readonly AuditRecord[]): Promise<void>;
  /**
   * Returns sums in the order of the keys if these include `day`, otherwise by descending cost. If `by` or the filter names a
   * deployment, sums include inner calls. Otherwise they include only the cost of inner calls, because the tokens of an application
   * already include those of its inner calls.
   */
  sumUsage<Key extends UsageKey>(query: UsageQuery<Key>): Promise<readonly UsageSum<Key>[]>;
  /** Returns calls, newest first and by ID within a millisecond. Includes inner calls of applications. */
  listCalls(query: CallsQuery): Promise<readonly UsageRecord[]>;
  /** Stores the times of the last requests with keys, in milliseconds since the epoch, at most once a minute for each key. */
  recordKeyUses(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Returns the time of the last request with each key that was used, to the minute, in milliseconds since the epoch. */
  readKeyUses(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Returns audit records, newest first and by ID within a millisecond. */
  readAudit(query: AuditQuery): Promise<readonly AuditRecord[]>;
}

export interface UpkeepOptions {
  readonly nowMs: number;
  /** Number of past days whose records are kept. Undefined keeps all records. */
  readonly retentionDays: number | undefined;
  /** Ends the work between two steps. */
  readonly signal: AbortSignal;
}

/** Port for the periodic work on the records. Several nodes can do it concurrently. Throws `StoreError`. */
export interface RecordUpkeep {
  /** Prepares the tables of the next days, sums past days, and removes days that are older than the retention. */
  maintain(options: UpkeepOptions): Promise<void>;
}
