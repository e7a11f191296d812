import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '#base/time/clock.ts';
import type { CallEnd } from '#domain/calls/telemetry.ts';
import type { CallContentStore, ContentRecord } from '#domain/usage/call-content.ts';
import type { AuditRecord, Journal, RecordAudit, UsageRecord } from '#domain/usage/journal.ts';
import type { CallListener, MeasuredCall } from '../measured-call.ts';

/** Journal of a node. It writes usage records, audit records, and contents of calls to the stores. */
export interface OpenJournal {
  readonly recordAudit: RecordAudit;
  /** Records the usage of calls. */
  readonly listener: CallListener;
  /** Returns one message for each kind of record with losses since the last successful write. */
  readonly losses: () => readonly string[];
  /** Writes the waiting records. */
  readonly close: () => Promise<void>;
}

/** Action of the audit records that `RejectionCounter` sums up. */
const rejectedAction = 'credentials.refused';

/** Starts the journal. Calls never wait for it and never fail because of it. */
export function openJournal({ clock, ...deps }: JournalWriterDeps & { readonly clock: Clock }): OpenJournal {
  const writer = new JournalWriter(deps);
  const write: RecordAudit = (event) =>
    writer.audit.add({ id: randomUUID(), atMs: clock.epochMs(), requestId: undefined, details: {}, ...event });
  const rejections = new RejectionCounter((code, count) =>
    write({ action: rejectedAction, subject: undefined, object: undefined, details: { code, count } }),
  );
  return {
    recordAudit: (event) => (event.action === rejectedAction ? rejections.add(String(event.details?.code)) : write(event)),
    listener: new UsageRecorder(writer, clock, randomBytes(12).toString('base64url')),
    losses: () => writer.losses(),
    close() {
      rejections.flush();
      return writer.close();
    },
  };
}

interface JournalWriterDeps {
  readonly journal: Journal;
  readonly contents: Pick<CallContentStore, 'append'>;
  /** Called when an outage begins. */
  readonly reportError: (message: string, error: unknown) => void;
  /** Called when an outage ends. */
  readonly note: (message: string) => void;
  /** Milliseconds that a record waits for further ones before a write. Default: 1000. */
  readonly waitMs?: number;
  /** Maximum number of records of one kind that wait. Further records are counted and lost. Default: 50,000. */
  readonly maxWaiting?: number;
}

const defaults = { waitMs: 1000, maxWaiting: 50_000 };
/**
 * Number of waiting records that are written without waiting for further ones. Otherwise most records of a busy node survive two
 * young collections of the heap, which run about every 300 calls. Then they move to the old generation, whose collections
 * delay calls by tens of milliseconds.
 */
const fullBatch = 100;
/** Maximum number of characters of the contents that wait. Further contents are counted and lost. */
const maxWaitingChars = 32 * 1024 * 1024;
/** Contents are sealed in small batches, so that calls are served in between. */
const maxContentBatch = 16;

/** Writes records in batches, in the background: adding a record neither waits nor throws. */
export class JournalWriter {
  readonly usage: RecordQueue<UsageRecord>;
  readonly audit: RecordQueue<AuditRecord>;
  readonly contents: RecordQueue<ContentRecord>;

  constructor({ journal, contents, ...settings }: JournalWriterDeps) {
    const options = { ...defaults, ...settings };
    this.usage = new RecordQueue((records) => journal.appendUsage(records), { ...options, recordsName: 'usage records' });
    this.audit = new RecordQueue((records) => journal.appendAudit(records), { ...options, recordsName: 'audit records' });
    this.contents = new RecordQueue((records) => contents.append(records), {
      ...options,
      recordsName: 'contents of calls',
      maxWaiting: maxWaitingChars,
      maxBatch: maxContentBatch,
      getSize: ({ text }) => text.length,
    });
  }

  losses(): readonly string[] {
    return [this.usage, this.audit, this.contents].flatMap(({ loss }) => (loss === undefined ? [] : [loss]));
  }

  /** Writes the waiting records. They are lost if the store is unavailable. */
  async close(): Promise<void> {
    await Promise.all([this.usage.close(), this.audit.close(), this.contents.close()]);
  }
}

const rejectionPeriodMs = 10_000;

/**
 * Sums up rejected credentials, so that a client that tries many keys cannot fill the audit log. Writes one record for each
 * reason and period.
 */
class RejectionCounter {
  readonly #record: (code: string, count: number) => void;
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  /** `record` is called at the end of each period for each reason that occurred. */
  constructor(record: (code: string, count: number) => void) {
    this.#record = record;
  }

  add(code: string): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    this.#timer ??= setTimeout(() => this.flush(), rejectionPeriodMs).unref();
  }

  /** Writes the counts of the current period. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [code, count] of this.#counts) this.#record(code, count);
    this.#counts.clear();
  }
}

/** Records the usage of each call whose caller and deployment are known. */
class UsageRecorder implements CallListener {
  readonly #writer: Pick<JournalWriter, 'usage' | 'contents'>;
  readonly #clock: Clock;
  readonly #idPrefix: string;
  #count = 0;

  /** `idPrefix` is unique to this process. Ascending IDs are written much faster than random ones. */
  constructor(writer: Pick<JournalWriter, 'usage' | 'contents'>, clock: Clock, idPrefix: string) {
    this.#writer = writer;
    this.#clock = clock;
    this.#idPrefix = idPrefix;
  }

  callEnded({ caller, deploymentId, start, cost, session, tags, details, content }: MeasuredCall, end: CallEnd): void {
    if (caller === undefined || deploymentId === undefined || end.error?.code === 'deployment_not_found') return;
    const durationMs = end.atMs - start.atMs;
    const keyId = caller.userKey?.id ?? caller.configuredKey?.name;
    const id = `${this.#idPrefix}-${(++this.#count).toString(36).padStart(9, '0')}`;
    const atMs = Math.round(this.#clock.epochMs() - durationMs);
    if (content !== undefined) this.#writer.contents.add({ id, atMs, text: JSON.stringify(content.toContent()) });
    this.#writer.usage.add({
      id,
      requestId: start.requestId,
      atMs,
      subject: caller.subject,
      project: caller.project,
      deployment: deploymentId,
      path: [...(caller.chain?.path ?? []), deploymentId],
      operation: start.operation,
      outcome: end.outcome,
      status: end.status,
      promptTokens: end.promptTokens,
      completionTokens: end.completionTokens,
      cost,
      durationMs: Math.round(durationMs),
      ...details,
      ...(session !== undefined && { session }),
      ...(tags !== undefined && { tags }),
      ...(keyId !== undefined && { keyId }),
    });
  }
}

interface RecordQueueOptions<Item> {
  /** Plural name of the records, for messages. */
  readonly recordsName: string;
  readonly reportError: (message: string, error: unknown) => void;
  readonly note: (message: string) => void;
  readonly waitMs: number;
  /** Maximum total size of the records that wait. */
  readonly maxWaiting: number;
  /** Returns the size of a record. Default: 1. */
  readonly getSize?: (record: Item) => number;
  /** Maximum number of records of one write. Default: 1000. */
  readonly maxBatch?: number;
}

/** Queue of records of one kind. It retains them while the store is unavailable. */
class RecordQueue<Item> {
  readonly #append: (records: readonly Item[]) => Promise<void>;
  readonly #options: RecordQueueOptions<Item>;
  #waiting: Item[] = [];
  #waitingSize = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #lostCount = 0;
  #isUnavailable = false;

  constructor(append: (records: readonly Item[]) => Promise<void>, options: RecordQueueOptions<Item>) {
    this.#append = append;
    this.#options = options;
  }

  /** Message about the records that were lost since the last successful write, or undefined if there are no losses. */
  get loss(): string | undefined {
    return this.#lostCount === 0
      ? undefined
      : `${this.#lostCount} ${this.#options.recordsName} are lost: the queue is full, because the store is unavailable or too slow`;
  }

  add(record: Item): void {
    const { maxWaiting, getSize } = this.#options;
    if (this.#waitingSize >= maxWaiting) {
      this.#lostCount += 1;
      return;
    }
    this.#waiting.push(record);
    this.#waitingSize += getSize?.(record) ?? 1;
    if (this.#writing !== undefined) return;
    if (this.#waiting.length >= fullBatch && !this.#isUnavailable) void this.#write();
    else if (this.#timer === undefined) this.#writeLater();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#write();
    clearTimeout(this.#timer);
  }

  #writeLater(): void {
    this.#timer = setTimeout(() => void this.#write(), this.#options.waitMs).unref();
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      this.#timer = undefined;
      if (this.#waiting.length > 0) this.#writeLater();
    });
    return this.#writing;
  }

  /**
   * Writes the records that wait now. Records that arrive in the meantime wait for the next round, so that writes do not become
   * tiny. A batch that fails waits for the next round too. Writing a batch twice is harmless.
   */
  async #writeAll(): Promise<void> {
    const { getSize, maxBatch = 1000 } = this.#options;
    try {
      for (let remaining = this.#waiting.length; remaining > 0; ) {
        const batch = this.#waiting.slice(0, Math.min(remaining, maxBatch));
        await this.#append(batch);
        this.#waiting = this.#waiting.slice(batch.length);
        this.#waitingSize -= getSize === undefined ? batch.length : batch.reduce((size, record) => size + getSize(record), 0);
        remaining -= batch.length;
        this.#reportWritten();
      }
    } catch (error) {
      this.#reportOutage(error);
    }
  }

  #reportWritten(): void {
    const { note, recordsName } = this.#options;
    if (this.#isUnavailable) note(`resumed writing ${recordsName}. ${this.#lostCount} were lost`);
    else if (this.#lostCount > 0) note(`lost ${this.#lostCount} ${recordsName}: they arrived faster than the store writes them`);
    this.#isUnavailable = false;
    this.#lostCount = 0;
  }

  /** Reports an outage once. */
  #reportOutage(error: unknown): void {
    const { getSize, maxWaiting, reportError, recordsName } = this.#options;
    const max = getSize === undefined ? `${maxWaiting}` : `${maxWaiting} characters`;
    if (!this.#isUnavailable) reportError(`cannot write ${recordsName}. Up to ${max} wait for the store`, error);
    this.#isUnavailable = true;
  }
}
