import type { Clock } from '#base/time/clock.ts';
import { RecurringTasks } from '#base/time/recurring-tasks.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { getContentRetentionDays } from '#contract/configuration/service.ts';
import type { CallContentStore } from '#domain/usage/call-content.ts';
import type { RecordUpkeep } from '#domain/usage/journal.ts';

const intervalMs = 10 * 60_000;

export interface RecordMaintenanceDeps {
  readonly records: RecordUpkeep;
  readonly contents: Pick<CallContentStore, 'maintain'>;
  readonly snapshot: () => { readonly configuration: Pick<Configuration, 'records'> };
  readonly clock: Clock;
  readonly reportError: (message: string, error: unknown) => void;
}

/** Sums the usage of past days and removes records that are older than the retention, on every node. */
export class RecordMaintenance {
  readonly #tasks: RecurringTasks;
  readonly #aborter = new AbortController();

  constructor({ records, contents, snapshot, clock, reportError }: RecordMaintenanceDeps) {
    const { signal } = this.#aborter;
    const reportUnlessClosed = (message: string, error: unknown): void => {
      if (!signal.aborted) reportError(message, error);
    };
    this.#tasks = new RecurringTasks(reportUnlessClosed);
    this.#tasks.startAndEvery(intervalMs, 'could not sum usage and remove old records', () => {
      const { retentionDays } = snapshot().configuration.records;
      return records.maintain({ nowMs: clock.epochMs(), retentionDays, signal });
    });
    // Content that was stored before `records.content` was set to `none` is removed as well.
    this.#tasks.startAndEvery(intervalMs, 'could not remove the old content of calls', () => {
      const retentionDays = getContentRetentionDays(snapshot().configuration.records);
      return contents.maintain({ nowMs: clock.epochMs(), retentionDays, signal });
    });
  }

  close(): void {
    this.#aborter.abort();
    this.#tasks.close();
  }
}
