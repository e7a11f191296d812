import type { Clock } from '#base/clock.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { Operation, Telemetry } from '#domain/telemetry.ts';
import { readCredentials } from './credentials.ts';
import { compatErrorDialect, type ErrorDialect } from './error-dialect.ts';
import type { InFlightCalls } from './in-flight-calls.ts';
import { readBody, refuseLargeBody, requireJson } from './read-body.ts';
import { RequestContext } from './request-context.ts';
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

/** A request whose caller is known, and the bytes of its body. */
export interface AuthenticatedBody {
  readonly caller: Caller;
  readonly bytes: Buffer;
}

/** Serves the requests that are calls: each gets an id, a record, and an answer whatever happens. */
export class RequestHandler {
  readonly #deps: RequestHandlerDeps;
  readonly #leave = (context: RequestContext): void => this.#deps.inFlightCalls.leave(context);

  constructor(deps: RequestHandlerDeps) {
    this.#deps = deps;
  }

  /** Runs the work of one request on its raw request and response; what it throws becomes the answer. */
  async serve(facts: RouteFacts, raw: RawRequest, work: (context: RequestContext) => Promise<void>): Promise<void> {
    const { inFlightCalls } = this.#deps;
    const context = this.#open(facts, raw);
    try {
      if (inFlightCalls.isClosed) {
        raw.response.setHeader('connection', 'close');
        throw new ParleyError('shutting_down', 'This node is stopping; send the request again.', { retryAfterSeconds: 1 });
      }
      inFlightCalls.enter(context);
      await work(context);
    } catch (thrown) {
      context.sendError(thrown);
    }
    context.finish();
  }

  /** Who calls; a body that is announced too large is refused first. */
  async identify(context: RequestContext, maxBytes: number): Promise<Caller> {
    const { request, record, errorDialect } = context;
    refuseLargeBody(request, maxBytes);
    const caller = await this.#deps.identify(readCredentials(request, errorDialect.takesXApiKey));
    record.caller = caller;
    return caller;
  }

  /** Who calls, and the bytes of the body. Checked in this order: size, credentials, media type. */
  async authenticate(context: RequestContext): Promise<AuthenticatedBody> {
    const { request } = context;
    const maxBytes = this.#deps.maxBodyBytes();
    const caller = await this.identify(context, maxBytes);
    requireJson(request);
    return { caller, bytes: await readBody(request, maxBytes, () => context.signal) };
  }

  #open(
    { operation, route, errorDialect = compatErrorDialect }: RouteFacts,
    { id, request, response }: RawRequest,
  ): RequestContext {
    const { clock, telemetry } = this.#deps;
    const record = telemetry.begin({
      operation,
      route,
      requestId: id,
      traceparent: single(request.headers.traceparent),
      tracestate: single(request.headers.tracestate),
      atMs: clock.nowMs(),
    });
    return new RequestContext({ id, request, response, record, clock, errorDialect }, this.#leave);
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
