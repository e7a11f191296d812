import type { ServerResponse } from 'node:http';
import type { ResponseRef, ResponseStore, RunStore } from '#domain/responses/response-store.ts';
import type { BackgroundRuns } from '#services/responses/background-runs.ts';
import { EventStream } from '../../http/replies/event-stream.ts';
import { comment, endMark, toBytes } from '../response-reply.ts';

interface StreamDeps {
  readonly responses: Pick<ResponseStore, 'runs'>;
  readonly runs: BackgroundRuns;
}

interface StreamPosition {
  readonly location: ResponseRef;
  /** Sequence number after which the events start. */
  readonly after: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Returns whether the reader has lost access. */
  readonly hasEnded: () => boolean;
}

/** Polling interval for events of another node's run. */
const pollMs = 200;
/** Maximum number of consecutive store errors. Then the reader is disconnected and can resume after its last event. */
const maxFailures = 100;

/**
 * Sends the events of a run after a sequence number: first the stored events, then new events, until the run ends or the client
 * disconnects.
 */
export async function streamRun(
  { responses, runs }: StreamDeps,
  response: ServerResponse,
  { location, after, headers, hasEnded }: StreamPosition,
): Promise<void> {
  const stream = new EventStream(response, { headers, heartbeat: comment });
  let last = after;
  let failures = 0;
  while (!response.destroyed) {
    if (hasEnded()) return stream.abandon();
    const changed = runs.waitForChange(location.id, pollMs);
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

/** Reads the status before the events, so that the events of an ended run are complete. */
async function readOn(runs: RunStore, location: ResponseRef, last: number) {
  const isInProgress = await runs.isInProgress(location);
  return { isUnderWay: isInProgress, events: await runs.readEventsAfter(location.id, last) };
}
