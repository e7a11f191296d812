import type { JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { ModelUsage } from '#contract/chunk.ts';
import type { EmbeddingsRequest } from '#contract/embeddings-request.ts';
import type { Frame } from '#contract/frame.ts';
import type { Caller } from './callers/caller.ts';
import type { Deployment } from './deployments/deployment.ts';
import type { CallRecord } from './telemetry.ts';
import type { NativeRequest } from './upstreams/upstream.ts';

/** One request to one deployment. */
export interface Call<Request = ChatRequest> {
  /** Request id, shown to the caller as `X-Request-Id`. */
  readonly id: string;
  /** Id of the deployment, as asked for. */
  readonly deployment: string;
  readonly caller: Caller;
  /** Aborted when the caller leaves; everything that waits on behalf of the call gets it. */
  readonly signal: AbortSignal;
  /** Where its measures go; has its place in the trace. */
  readonly record: CallRecord;
  /** The validated request to the deployment that was found; throws the 400 that the body deserves. Called after access and consent were checked. */
  readonly read: (deployment: Deployment) => Request;
  /** The request in the dialect its caller speaks, where that is not the compat wire: for an upstream that speaks it too. Taken once, after `read`. */
  readonly native?: () => NativeRequest | undefined;
  /** Whether the caller asks how an application works; it is told where it may edit that. */
  readonly wantsTrace?: boolean;
  /** Calls with the same value go to the same upstream as long as it serves. Absent: they are spread. */
  readonly affinity?: string | undefined;
}

/** The answer to a call: `frames` may throw a ParleyError at any point. */
export interface Reply {
  /** Header fields for the caller, such as what is left of its limits. */
  readonly headers: Readonly<Record<string, string>>;
  readonly frames: AsyncIterable<Frame>;
  /** Tokens used so far, a model each; also of a reply that broke off. */
  readonly used: () => readonly ModelUsage[];
}

/** Answers one call; rejects with a ParleyError where the call is refused. Inner calls use the same function. */
export type Complete = (call: Call) => Promise<Reply>;

/** Tokens of the request of a call, counted or estimated; rejects with a ParleyError. Nothing is charged. */
export type CountTokens = (call: Call) => Promise<number>;

export type EmbeddingsCall = Call<EmbeddingsRequest>;

/** Embeddings as OpenAI's API gives them. */
export interface EmbeddingsReply {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly used: readonly ModelUsage[];
}

/** Answers one embeddings call; rejects with a ParleyError. */
export type Embed = (call: EmbeddingsCall) => Promise<EmbeddingsReply>;
