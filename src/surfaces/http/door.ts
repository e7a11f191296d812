import type { Clock } from '#base/clock.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Caller } from '#domain/caller.ts';
import type { Identify } from '#domain/identify.ts';
import type { Operation, Telemetry } from '#domain/telemetry.ts';
import { readCredentials } from './credentials.ts';
import type { OpenCalls } from './open-calls.ts';
import { readBody, refuseLargeBody, requireJson } from './read-body.ts';
import type { RawRequest } from './serve-raw.ts';
import { compatSpeech, type Speech } from './speech.ts';
import { CallerLeft, Visit } from './visit.ts';

export interface DoorTools {
  readonly clock: Clock;
  readonly identify: Identify;
  readonly maxBodyBytes: () => number;
  readonly openCalls: OpenCalls;
  readonly telemetry: Telemetry;
}

/** What a route is, for measures and logs. */
export interface RouteFacts {
  readonly operation: Operation;
  /** The route's pattern, never the path itself. */
  readonly route: string;
  /** Absent: that of the compat surface. */
  readonly speech?: Speech;
}

/** A call whose caller is known, and its body as `readBody` gives it. */
export interface Admitted {
  readonly caller: Caller;
  readonly text: string | undefined;
}

/** Where calls come in: every request gets an id, a signal, a record, and an answer whatever happens. */
export class Door {
  readonly #tools: DoorTools;

  constructor(tools: DoorTools) {
    this.#tools = tools;
  }

  /** Runs the work of one request on its raw request and response; what it throws becomes the answer. */
  async serve(facts: RouteFacts, raw: RawRequest, work: (visit: Visit) => Promise<void>): Promise<void> {
    const { openCalls } = this.#tools;
    const controller = new AbortController();
    const visit = this.#visit(facts, raw, controller);
    raw.response.once('close', () => {
      if (!raw.response.writableFinished) controller.abort(new CallerLeft());
    });
    try {
      if (openCalls.isClosed) {
        raw.response.setHeader('connection', 'close');
        throw new ParleyError('shutting_down', 'This node is stopping; send the request again.', { retryAfterSeconds: 1 });
      }
      openCalls.enter(controller);
      await work(visit);
    } catch (thrown) {
      visit.sendError(thrown);
    } finally {
      // Behind the write of the answer, which waits for the end of this turn of the event loop too: no caller waits for the books.
      setImmediate(conclude, visit, openCalls, controller);
    }
  }

  /** Who calls, and the body as `readBody` gives it, in the order of contract 5: size, credentials, media type. */
  async admit(visit: Visit): Promise<Admitted> {
    const maxBytes = this.#tools.maxBodyBytes();
    refuseLargeBody(visit.request, maxBytes);
    const caller = await this.#tools.identify(readCredentials(visit.request, visit.speech.takesXApiKey));
    visit.record.caller(caller);
    requireJson(visit.request);
    return { caller, text: await readBody(visit.request, maxBytes, visit.signal) };
  }

  #visit(
    { operation, route, speech = compatSpeech }: RouteFacts,
    { id, request, response }: RawRequest,
    controller: AbortController,
  ): Visit {
    const { clock, telemetry } = this.#tools;
    const record = telemetry.begin({
      operation,
      route,
      requestId: id,
      traceparent: single(request.headers.traceparent),
      tracestate: single(request.headers.tracestate),
      atMs: clock.nowMs(),
    });
    return new Visit({ id, request, response, record, clock, speech }, controller);
  }
}

function conclude(visit: Visit, openCalls: OpenCalls, controller: AbortController): void {
  visit.end();
  openCalls.leave(controller);
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
