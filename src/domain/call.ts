import type { ChatRequest } from '#contract/chat-request.ts';
import type { Frame } from '#contract/frame.ts';
import type { Caller } from './caller.ts';

/** W3C trace context as it came, or made for this call. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** One request to one deployment. */
export interface Call {
  /** Request id, shown to the caller as `X-Request-Id`. */
  readonly id: string;
  /** Id of the deployment, as asked for. */
  readonly deployment: string;
  readonly caller: Caller;
  /** Aborted when the caller leaves; everything that waits on behalf of the call gets it. */
  readonly signal: AbortSignal;
  readonly trace: TraceContext;
  /** The validated request; throws the 400 that the body deserves. Called after access and consent were checked. */
  readonly read: () => ChatRequest;
}

/** The answer to a call: `frames` may throw a ParleyError at any point. */
export interface Reply {
  /** Header fields for the caller, such as what is left of its limits. */
  readonly headers: Readonly<Record<string, string>>;
  readonly frames: AsyncIterable<Frame>;
}

/** Answers one call; rejects with a ParleyError where the call is refused. Inner calls use the same function. */
export type Complete = (call: Call) => Promise<Reply>;
