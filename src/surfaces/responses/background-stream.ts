import type { ServerResponse } from 'node:http';
import type { ResponsePlace, ResponseStore } from '#domain/responses/response-store.ts';
import { EventStream } from '../http/event-stream.ts';
import type { BackgroundRuns } from './background-runs.ts';
import { comment, endMark, toBytes } from './response-reply.ts';

interface StreamDeps {
  readonly responses: Pick<ResponseStore, 'runs'>;
  readonly runs: BackgroundRuns;
}

interface Following {
  readonly place: ResponsePlace;
  /** Only events with a greater number. */
  readonly after: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** How soon events of another node's run are seen. */
const lookMs = 200;

/** Sends the events of a run behind a number: those that are kept, and then those that come, until it has ended or its reader leaves. */
export async function streamRun(
  { responses, runs }: StreamDeps,
  response: ServerResponse,
  { place, after, headers }: Following,
): Promise<void> {
  const stream = new EventStream(response, { headers, heartbeat: comment });
  let last = after;
  while (!response.destroyed) {
    const changed = runs.changed(place.id, lookMs);
    const isUnderWay = await responses.runs.isUnderWay(place);
    const events = await responses.runs.eventsAfter(place.id, last);
    if (events.length > 0) {
      const keepsUp = stream.send(toBytes(events));
      last = Number(events.at(-1)?.sequence_number);
      if (!keepsUp) await stream.drained();
    } else if (!isUnderWay) break;
    else await changed;
  }
  stream.send(endMark);
  stream.end();
}
