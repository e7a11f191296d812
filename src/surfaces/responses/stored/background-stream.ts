import type { ServerResponse } from 'node:http';
import type { ResponsePlace, ResponseStore, RunStore } from '#domain/responses/response-store.ts';
import type { BackgroundRuns } from '#services/responses/background-runs.ts';
import { EventStream } from '../../http/replies/event-stream.ts';
import { comment, endMark, toBytes } from '../response-reply.ts';

interface StreamDeps {
  readonly responses: Pick<ResponseStore, 'runs'>;
  readonly runs: BackgroundRuns;
}

interface Following {
  readonly place: ResponsePlace;
  /** Only events with a greater number. */
  readonly after: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether its reader may read no more. */
  readonly isOver: () => boolean;
}

/** How soon events of another node's run are seen. */
const lookMs = 200;
/** How often the store may fail to tell in a row: a reader is then broken off, and can read on from its last event. */
const mostFailures = 100;

/** Sends the events of a run behind a number: those that are kept, and then those that come, until it has ended or its reader leaves. */
export async function streamRun(
  { responses, runs }: StreamDeps,
  response: ServerResponse,
  { place, after, headers, isOver }: Following,
): Promise<void> {
  const stream = new EventStream(response, { headers, heartbeat: comment });
  let last = after;
  let failures = 0;
  while (!response.destroyed) {
    if (isOver()) return stream.abandon();
    const changed = runs.changed(place.id, lookMs);
    const told = await readOn(responses.runs, place, last).catch(() => undefined);
    failures = told === undefined ? failures + 1 : 0;
    if (failures > mostFailures) return stream.abandon();
    if (told !== undefined && told.events.length > 0) {
      const keepsUp = stream.send(toBytes(told.events));
      last = Number(told.events.at(-1)?.sequence_number);
      if (!keepsUp) await stream.drained();
    } else if (told?.isUnderWay === false) break;
    else await changed;
  }
  stream.send(endMark);
  stream.end();
}

/** Whether it goes on is asked first: what is told of one that has ended is then all. */
async function readOn(runs: RunStore, place: ResponsePlace, last: number) {
  const isUnderWay = await runs.isUnderWay(place);
  return { isUnderWay, events: await runs.eventsAfter(place.id, last) };
}
