import type { Clock } from '#base/clock.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { Operation, Telemetry } from '#domain/telemetry.ts';
import { readCredentials } from './credentials.ts';
import { compatErrorDialect, type ErrorDialect } from './error-dialect.ts';
import type { InFlightCalls } from './in-flight-calls.ts';
import { readBody, refuseLargeBody, requireJson } from './read-body.ts';
import { CallerLeft, RequestContext } from './request-context.ts';
import type { RawRequest } from './serve-raw.ts';

export interface RequestHandlerDeps {
  readonly clock: Clock;
  readonly identify: Identify;
  readonly maxBodyBytes: () => number;
  readonly inFlightCalls: InFlightCalls;
  readonly telemetry: Telemetry;
}

/** What a route is, for measures and logs. */
export interface RouteFacts {
  readonly operation: Operation;
  /** The route's pattern, never the path itself. */
  readonly route: string;
  /** Absent: that of the compat surface. */
  readonly errorDialect?: ErrorDialect;
}

/** A call whose caller is known, and its body as `readBody` gives it. */
export interface AuthenticatedBody {
  readonly caller: Caller;
  readonly text: string | undefined;
}

/** Where calls come in: every request gets an id, a signal, a record, and an answer whatever happens. */
export class RequestHandler {
  readonly #tools: RequestHandlerDeps;

  constructor(tools: RequestHandlerDeps) {
    this.#tools = tools;
  }

  /** Runs the work of one request on its raw request and response; what it throws becomes the answer. */
  async serve(facts: RouteFacts, raw: RawRequest, work: (context: RequestContext) => Promise<void>): Promise<void> {
    const { inFlightCalls } = this.#tools;
    const controller = new AbortController();
    const context = this.#context(facts, raw, controller);
    raw.response.once('close', () => {
      if (!raw.response.writableFinished) controller.abort(new CallerLeft());
    });
    try {
      if (inFlightCalls.isClosed) {
        raw.response.setHeader('connection', 'close');
        throw new ParleyError('shutting_down', 'This node is stopping; send the request again.', { retryAfterSeconds: 1 });
      }
      inFlightCalls.enter(controller);
      await work(context);
    } catch (thrown) {
      context.sendError(thrown);
    } finally {
      // Behind the write of the answer, which waits for the end of this turn of the event loop too: no caller waits for the books.
      setImmediate(conclude, context, inFlightCalls, controller);
    }
  }

  /** Who calls, and the body as `readBody` gives it, in the order of contract 5: size, credentials, media type. */
  async admit(context: RequestContext): Promise<AuthenticatedBody> {
    const maxBytes = this.#tools.maxBodyBytes();
    refuseLargeBody(context.request, maxBytes);
    const caller = await this.#tools.identify(readCredentials(context.request, context.errorDialect.takesXApiKey));
    context.record.caller(caller);
    requireJson(context.request);
    return { caller, text: await readBody(context.request, maxBytes, context.signal) };
  }

  #context(
    { operation, route, errorDialect = compatErrorDialect }: RouteFacts,
    { id, request, response }: RawRequest,
    controller: AbortController,
  ): RequestContext {
    const { clock, telemetry } = this.#tools;
    const record = telemetry.begin({
      operation,
      route,
      requestId: id,
      traceparent: single(request.headers.traceparent),
      tracestate: single(request.headers.tracestate),
      atMs: clock.nowMs(),
    });
    return new RequestContext({ id, request, response, record, clock, errorDialect }, controller);
  }
}

function conclude(context: RequestContext, inFlightCalls: InFlightCalls, controller: AbortController): void {
  context.end();
  inFlightCalls.leave(controller);
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
