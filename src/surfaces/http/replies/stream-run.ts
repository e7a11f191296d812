import type { ServerResponse } from 'node:http';
import type { JsonObject } from '#base/json/json.ts';
import { endEvent } from '#contract/chat/frame.ts';
import type { ResponseRef, ResponseStore, RunStore } from '#domain/responses/response-store.ts';
import type { BackgroundRuns } from '#services/responses/background-runs.ts';
import { commentHeartbeat, EventStream } from './event-stream.ts';

interface StreamDeps {
  readonly responses: Pick<ResponseStore, 'runs'>;
  readonly runs: BackgroundRuns;
}

interface StreamPosition {
  readonly ref: ResponseRef;
  /** Sequence number after which the events start. */
  readonly after: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Returns whether the reader has lost access. */
  readonly hasLostAccess: () => boolean;
  /** Returns events as latin1 bytes. */
  readonly toBytes: (events: readonly JsonObject[]) => string;
  /** Returns the last bytes of the stream after the run has ended. Default: `endEvent`. */
  readonly toEnd?: () => Promise<string>;
}

/** Polling interval for events of another node's run. */
const pollIntervalMs = 200;
/** Maximum number of consecutive store errors. Then the reader is disconnected and can resume after its last event. */
const maxFailures = 100;

/**
 * Sends the events of a run after a sequence number: first the stored events, then new events, until the run ends or the client
 * disconnects.
 */
export async function streamRun(
  { responses, runs }: StreamDeps,
  response: ServerResponse,
  { ref, after, headers, hasLostAccess, toBytes, toEnd = async () => endEvent }: StreamPosition,
): Promise<void> {
  const stream = new EventStream(response, { headers });
  let last = after;
  let failures = 0;
  let firstComment = commentHeartbeat;
  while (!response.destroyed) {
    if (hasLostAccess()) return stream.abandon();
    const changed = runs.waitForChange(ref.id, pollIntervalMs);
    const batch = await readBatch(responses.runs, ref, last).catch(() => undefined);
    failures = batch === undefined ? failures + 1 : 0;
    if (failures > maxFailures) return stream.abandon();
    if (batch !== undefined && batch.events.length > 0) {
      const keepsUp = stream.send(toBytes(batch.events));
      last = Number(batch.events.at(-1)?.sequence_number);
      if (!keepsUp) await stream.whenDrained();
    } else if (batch?.isInProgress === false) break;
    else {
      // Sends the headers and one comment immediately, because the next event may take long.
      stream.send(firstComment);
      firstComment = '';
      await changed;
    }
  }
  const end = await toEnd().catch(() => undefined);
  if (end === undefined) return stream.abandon();
  stream.send(end);
  stream.end();
}

/** Reads the status before the events, so that the events of an ended run are complete. */
async function readBatch(runs: RunStore, ref: ResponseRef, last: number) {
  const isInProgress = await runs.isInProgress(ref);
  return { isInProgress, events: await runs.readEventsAfter(ref.id, last) };
}
