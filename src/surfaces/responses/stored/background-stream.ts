import type { ServerResponse } from 'node:http';
import type { ResponseRef, ResponseStore, RunStore } from '#domain/responses/response-store.ts';
import type { BackgroundRuns } from '#services/responses/background-runs.ts';
import { EventStream } from '../../http/replies/event-stream.ts';
import { comment, endMark, toBytes } from '../response-reply.ts';

interface StreamDeps {
  readonly responses: Pick<ResponseStore, 'runs'>;
  readonly runs: BackgroundRuns;
}

interface Following {
  readonly location: ResponseRef;
  /** Only events with a greater number. */
  readonly after: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether its reader may read no more. */
  readonly isOver: () => boolean;
}

/** How soon events of another node's run are seen. */
const lookMs = 200;
/** How often the store may fail to tell in a row: a reader is then broken off, and can read on from its last event. */
const maxFailures = 100;

/** Sends the events of a run behind a number: those that are kept, and then those that come, until it has ended or its reader leaves. */
export async function streamRun(
  { responses, runs }: StreamDeps,
  response: ServerResponse,
  { location, after, headers, isOver }: Following,
): Promise<void> {
  const stream = new EventStream(response, { headers, heartbeat: comment });
  let last = after;
  let failures = 0;
  while (!response.destroyed) {
    if (isOver()) return stream.abandon();
    const changed = runs.waitForChange(location.id, lookMs);
    const batch = await readOn(responses.runs, location, last).catch(() => undefined);
    failures = batch === undefined ? failures + 1 : 0;
    if (failures > maxFailures) return stream.abandon();
    if (batch !== undefined && batch.events.length > 0) {
      const keepsUp = stream.send(toBytes(batch.events));
      last = Number(batch.events.at(-1)?.sequence_number);
      if (!keepsUp) await stream.drained();
    } else if (batch?.isUnderWay === false) break;
    else await changed;
  }
  stream.send(endMark);
  stream.end();
}

/** Whether it goes on is asked first: what is told of one that has ended is then all. */
async function readOn(runs: RunStore, location: ResponseRef, last: number) {
  const isUnderWay = await runs.isInProgress(location);
  return { isUnderWay, events: await runs.readEventsAfter(location.id, last) };
}
