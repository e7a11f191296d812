import type { Clock } from '#base/clock.ts';
import { ParleyError } from '#contract/errors.ts';
import { findSessionInHeaders } from '#contract/session-id.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Operation, Telemetry } from '#domain/telemetry.ts';
import { compatErrorDialect, type ErrorDialect } from './error-dialect.ts';
import type { InFlightCalls } from './in-flight-calls.ts';
import { readBody, readCredentials, refuseLargeBody, requireJson } from './read-request.ts';
import { RequestContext } from './request-context.ts';
import type { RawRequest } from './serve-raw.ts';

export interface RequestHandlerDeps {
  readonly clock: Clock;
  readonly identify: Identify;
  readonly snapshot: () => ConfigSnapshot;
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

  constructor(deps: RequestHandlerDeps) {
    this.#deps = deps;
  }

  /** Runs the work of one request on its raw request and response; what it throws becomes the answer. */
  async serve(
    { operation, route, errorDialect = compatErrorDialect }: RouteFacts,
    { id, request, response }: RawRequest,
    work: (context: RequestContext) => Promise<void>,
  ): Promise<void> {
    const { clock, telemetry, inFlightCalls } = this.#deps;
    // Node joins fields that come twice.
    const { traceparent, tracestate } = request.headers as Readonly<Record<string, string | undefined>>;
    const record = telemetry.begin({ operation, route, requestId: id, traceparent, tracestate, atMs: clock.nowMs() });
    record.session = findSessionInHeaders(request.headers);
    const context = new RequestContext({ id, request, response, record, clock, errorDialect }, inFlightCalls);
    try {
      if (inFlightCalls.isClosed) {
        response.setHeader('connection', 'close');
        throw new ParleyError('shutting_down', 'This node is stopping; send the request again.', { retryAfterSeconds: 1 });
      }
      inFlightCalls.add(context);
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
    const caller = await this.#deps.identify(readCredentials(request, errorDialect.takesXApiKey), request, 'accepts bound keys');
    record.caller = caller;
    return caller;
  }

  /** Who calls, and the bytes of the body. Checked in this order: size, credentials, media type. */
  async authenticate(context: RequestContext): Promise<AuthenticatedBody> {
    const { request } = context;
    const maxBytes = this.#deps.snapshot().configuration.security.maxBodyBytes;
    const caller = await this.identify(context, maxBytes);
    requireJson(request);
    return { caller, bytes: await readBody(request, maxBytes, () => context.signal) };
  }
}
