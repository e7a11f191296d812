import type { Clock } from '#base/time/clock.ts';
import type { IndexedDocument } from '#domain/tools/passage-index.ts';
import type { ToolContext } from '#domain/tools/tool.ts';
import type { Reading } from './indexing/reading.ts';
import type { ShelvedFile } from './shelf.ts';

/** How long a question waits for documents that are still being read. */
const patienceMs = 120_000;
const tellEveryMs = 2000;

/** A file with what is known of it. */
export interface ReadFile extends ShelvedFile {
  readonly document: IndexedDocument;
}

export interface Readings {
  readonly read: readonly ReadFile[];
  /** Why some cannot be searched, or not all of them, a sentence each. */
  readonly notes: readonly string[];
}

interface Wanted {
  readonly shelved: ShelvedFile;
  readonly reading: Reading;
}

/** Waits until the words of all files can be searched, telling how far that is; those that take too long are left out. Throws the signal's reason. */
export async function awaitReadings(wanted: readonly Wanted[], { signal, report }: ToolContext, clock: Clock): Promise<Readings> {
  const late = AbortSignal.timeout(patienceMs);
  const all = Promise.allSettled(wanted.map(({ reading }) => reading.done));
  let told = '';
  while (!late.aborted && wanted.some(({ reading }) => !reading.isOver)) {
    const line = toProgress(wanted);
    if (line !== told) await report({ content: `${line}\n\n` });
    told = line;
    const settled = new AbortController();
    const pause = clock.sleep(tellEveryMs, AbortSignal.any([signal, settled.signal]));
    await Promise.race([all, pause]).finally(() => settled.abort());
    signal.throwIfAborted();
  }
  return toReadings(wanted);
}

function toProgress(wanted: readonly Wanted[]): string {
  const left = wanted.filter(({ reading }) => !reading.isOver);
  const now = left.find(({ reading }) => reading.hasBegun) ?? left[0];
  return `Reading the documents for the first time: ${wanted.length - left.length} of ${wanted.length} read, now ${now?.shelved.name}.`;
}

function toReadings(wanted: readonly Wanted[]): Readings {
  const read: ReadFile[] = [];
  const notes: string[] = [];
  for (const { shelved, reading } of wanted) {
    const { document } = reading;
    if (document === undefined) notes.push(`${shelved.name} cannot be searched yet; ask again later.`);
    else if (document.failure !== undefined) notes.push(`${shelved.name} cannot be read. ${document.failure}`);
    else read.push({ ...shelved, document });
    if (document?.note !== undefined) notes.push(`${shelved.name}: ${document.note}`);
  }
  return { read, notes };
}
