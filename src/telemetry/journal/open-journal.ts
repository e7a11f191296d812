import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { NoteAudit } from '#domain/usage/journal.ts';
import type { CallListener } from '../measured-call.ts';
import { JournalWriter, type JournalWriterDeps } from './journal-writer.ts';
import { RefusalCounter } from './refusal-counter.ts';
import { UsageRecorder } from './usage-recorder.ts';

/** How a node keeps records of what happens. */
export interface OpenJournal {
  readonly noteAudit: NoteAudit;
  /** Records what calls use. */
  readonly listener: CallListener;
  /** What is being lost at the moment, in words. */
  readonly losses: () => readonly string[];
  /** Writes what waits. */
  readonly close: () => Promise<void>;
}

const refused = 'credentials.refused';

/** Begins to write to a journal; nothing that is noted waits for it, or fails with it. */
export function openJournal({ clock, ...parts }: JournalWriterDeps & { readonly clock: Clock }): OpenJournal {
  const writer = new JournalWriter(parts);
  const write: NoteAudit = (event) =>
    writer.audit.add({ id: randomUUID(), atMs: clock.epochMs(), requestId: undefined, details: {}, ...event });
  const refusals = new RefusalCounter((code, count) =>
    write({ action: refused, subject: undefined, object: undefined, details: { code, count } }),
  );
  return {
    noteAudit: (event) => (event.action === refused ? refusals.add(String(event.details?.code)) : write(event)),
    listener: new UsageRecorder(writer.usage, clock, randomBytes(12).toString('base64url')),
    losses: () => writer.losses(),
    close() {
      refusals.flush();
      return writer.close();
    },
  };
}
