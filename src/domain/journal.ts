import type { CallOutcome, Operation } from './telemetry.ts';

/** What one call used; nothing of its content. */
export interface UsageRecord {
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
}

/** What somebody did that others may have to answer for later. */
export interface AuditRecord {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** Such as `consent.accepted`, `consent.withdrawn`, `application.saved`, `application.deleted`, `configuration.loaded`, `configuration.refused`, `credentials.refused`. */
  readonly action: string;
  /** User subject; undefined where nobody is known. */
  readonly subject: string | undefined;
  /** The deployment, file or configuration it was done to. */
  readonly object: string | undefined;
  readonly requestId: string | undefined;
  /** Further facts; never content or secrets. */
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

/** Notes in the audit log what was done; neither waits nor throws. */
export type NoteAudit = (event: Pick<AuditRecord, 'action' | 'subject' | 'object'> & Partial<AuditRecord>) => void;

/** Sums of usage by day, deployment and subject. */
export interface UsageSum {
  /** `YYYY-MM-DD` in UTC. */
  readonly day: string;
  readonly deployment: string;
  readonly subject: string;
  readonly calls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Billionths of a USD. */
  readonly cost: number;
}

export interface AuditQuery {
  /** Only older records: for the next page, `atMs` of the last one of this page. */
  readonly beforeMs: number;
  /** Its `id`: then the others of the same millisecond are not left out. */
  readonly beforeId?: string;
  readonly limit: number;
}

/** Port: what is appended and never changed. Throws StoreFault. */
export interface Journal {
  appendUsage(records: readonly UsageRecord[]): Promise<void>;
  appendAudit(records: readonly AuditRecord[]): Promise<void>;
  /** From `fromMs` up to, not including, `toMs`; of one subject or of all. Ordered by day, deployment, subject. */
  sumUsage(query: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly subject: string | undefined;
  }): Promise<readonly UsageSum[]>;
  /** The newest first, those of one millisecond by id. */
  readAudit(query: AuditQuery): Promise<readonly AuditRecord[]>;
}
