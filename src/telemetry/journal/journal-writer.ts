import type { AuditRecord, Journal, UsageRecord } from '#domain/usage/journal.ts';
import { RecordQueue } from './record-queue.ts';

export interface JournalWriterDeps {
  readonly journal: Journal;
  /** Called when an outage begins. */
  readonly noteFault: (message: string, thrown: unknown) => void;
  /** Called when it ends. */
  readonly note: (message: string) => void;
  /** Milliseconds that records wait for others; default 1000. */
  readonly waitMs?: number;
  /** How many records of a kind wait at most, while the store is away; further ones are lost, and counted. Default 50 000. */
  readonly maxWaiting?: number;
}

const defaults = { waitMs: 1000, maxWaiting: 50_000 };

/** Writes records in batches, off the path of the calls: adding a record neither waits nor throws. */
export class JournalWriter {
  readonly usage: RecordQueue<UsageRecord>;
  readonly audit: RecordQueue<AuditRecord>;

  constructor({ journal, ...parts }: JournalWriterDeps) {
    const options = { ...defaults, ...parts };
    this.usage = new RecordQueue((records) => journal.appendUsage(records), { ...options, what: 'records of usage' });
    this.audit = new RecordQueue((records) => journal.appendAudit(records), { ...options, what: 'records of the audit log' });
  }

  /** What is being lost at the moment, in words; empty as long as everything is written, or waits. */
  losses(): readonly string[] {
    return [this.usage, this.audit].flatMap(({ loss }) => (loss === undefined ? [] : [loss]));
  }

  /** Writes what waits, if the store lets it. */
  async close(): Promise<void> {
    await Promise.all([this.usage.close(), this.audit.close()]);
  }
}
