import type { IncomingMessage } from 'node:http';
import type { Clock } from '#base/time/clock.ts';
import { findSessionInHeaders } from '#contract/chat/session-id.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { mergeTags, type Tags, tagsHeader } from '#contract/tags.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { Operation, Telemetry } from '#domain/calls/telemetry.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { InFlightCalls } from '#services/node/in-flight-calls.ts';
import type { InputMemory } from '#services/node/input-memory.ts';
import { compatErrorDialect, type ErrorDialect } from './error-dialect.ts';
import { type JoinedHeaders, readBody, readCredentials, rejectLargeBody, requireJson } from './read-request.ts';
import { type Exchange, RequestContext } from './request-context.ts';
import type { RawRequest } from './serve-raw.ts';

export interface RequestHandlerDeps {
  readonly clock: Clock;
  readonly identify: Identify;
  readonly snapshot: () => ConfigSnapshot;
  readonly inFlightCalls: InFlightCalls;
  readonly telemetry: Telemetry;
  readonly inputMemory: InputMemory;
}

/** `false` means that the content of the call and of its inner calls is not recorded (docs/operations.md, Content of calls). */
const recordContentHeader = 'x-parley-record-content';

/** Options of a route: names for metrics and logs, error dialect, and body limit. */
export interface RouteOptions {
  readonly operation: Operation;
  /** Pattern of the route, never an actual path. */
  readonly route: string;
  /** Undefined selects the dialect of the chat completions API. */
  readonly errorDialect?: ErrorDialect;
  /** Returns the maximum number of bytes of a body. Absent or undefined: `security.maxBodyBytes`. */
  readonly maxBodyBytes?: (request: IncomingMessage) => number | undefined;
}

/** Serves the requests that run calls. Each request has one telemetry record and receives one response. */
export class RequestHandler {
  readonly #deps: RequestHandlerDeps;

  constructor(deps: RequestHandlerDeps) {
    this.#deps = deps;
  }

  /**
   * Authenticates and answers a request, and records its end. `answer` resolves when the response is complete. Its errors are sent
   * to the client.
   */
  async serve(
    options: RouteOptions,
    { id, request, response }: RawRequest,
    answer: (exchange: Exchange) => Promise<void>,
  ): Promise<void> {
    const { clock, telemetry, inFlightCalls } = this.#deps;
    const { operation, route, errorDialect = compatErrorDialect } = options;
    const { traceparent, tracestate } = request.headers as JoinedHeaders;
    const record = telemetry.startCall({ operation, route, requestId: id, traceparent, tracestate, atMs: clock.nowMs() });
    record.session = findSessionInHeaders(request.headers);
    const context = new RequestContext({ id, request, response, record, clock, errorDialect });
    try {
      if (inFlightCalls.isClosed) {
        response.setHeader('connection', 'close');
        throw new ParleyError('shutting_down', 'This node is shutting down. Send the request again.', { retryAfterSeconds: 1 });
      }
      inFlightCalls.add(context);
      rejectLargeBody(request, options.maxBodyBytes?.(request) ?? this.#maxBodyBytes);
      const credentials = readCredentials(request, errorDialect.acceptsXApiKey);
      const caller = await this.#deps.identify(credentials, request, 'accepts bound keys');
      record.caller = caller;
      record.tags = this.#findTags(request, caller);
      record.isPrivate = request.headers[recordContentHeader] === 'false' || caller.chain?.isPrivate === true;
      await answer({ context, caller });
    } catch (error) {
      context.sendError(error);
    }
    await context.closed;
    context.finish();
    inFlightCalls.delete(context);
    context.releaseInput();
  }

  /** Reads a JSON body. Throws 415 for another media type, 413 if it is too large, and 503 if `InputMemory` has no capacity. */
  readJson({ context, caller }: Exchange): Buffer | Promise<Buffer> {
    requireJson(context.request);
    return readBody(context.request, this.#maxBodyBytes, {
      signal: () => context.signal,
      onLargeBody: (bytes) => context.holdInput(this.#deps.inputMemory.hold(caller, bytes)),
    });
  }

  #findTags({ headers }: IncomingMessage, { project, chain }: Caller): Tags | undefined {
    const { projects } = this.#deps.snapshot().configuration;
    return mergeTags({
      header: (headers as JoinedHeaders)[tagsHeader],
      project: projects[project]?.tags,
      inherited: chain?.tags,
    });
  }

  get #maxBodyBytes(): number {
    return this.#deps.snapshot().configuration.security.maxBodyBytes;
  }
}
