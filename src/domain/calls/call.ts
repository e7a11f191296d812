import type { JsonObject } from '#base/json/json.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import type { Frame } from '#contract/chat/frame.ts';
import type { Caller } from '../callers/caller.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment, DeploymentUse } from '../deployments/deployment.ts';
import type { LimitAccount } from '../limits/limit-counters.ts';
import type { RemoteTools } from '../tools/remote-server.ts';
import type { NativeRequest, PassThroughFrame, PassThroughRequest } from '../upstreams/upstream.ts';
import type { CallRecord } from './telemetry.ts';

/** One request to one deployment, before authorization. */
export interface Call {
  /** Request ID. The client receives it as `X-Request-Id`. */
  readonly id: string;
  /** ID of the deployment, as the client sent it. */
  readonly deployment: string;
  readonly caller: Caller;
  /** Telemetry of the call, including its trace context. */
  readonly record: CallRecord;
  /**
   * HTTP request that caused the call. An inner call of a built-in application has the origin of its outer call. Undefined if no
   * HTTP request caused it.
   */
  readonly origin?: CallOrigin | undefined;
  /** Whether the client requests a trace of the application. Only a caller that may edit the application receives it. */
  readonly wantsTrace?: boolean;
  /** Version of an application that the caller owns. Undefined selects the active version. */
  readonly version?: number;
  /** An unsaved application that the caller may test, in place of the saved one. */
  readonly draft?: Deployment;
}

/** URL and header fields of a request, as received. */
export interface CallOrigin {
  readonly url?: string | undefined;
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
}

declare const authorized: unique symbol;

/**
 * An authorized call: the deployment exists, the caller may use it, and any required consent is given. Only `authorize` creates
 * one.
 */
export interface Target {
  readonly call: Call;
  readonly deployment: Deployment;
  /** IDs of the deployments in the call chain, from the root through this one. */
  readonly path: readonly string[];
  /** Limits of the caller on the deployment. */
  readonly limitAccount: LimitAccount;
  /** Configuration at the time of the call. A reload does not change a call in progress. */
  readonly snapshot: ConfigSnapshot;
  readonly [authorized]: true;
}

/** Input of a call to a chat deployment. */
export interface ChatInput {
  readonly request: ChatRequest;
  /**
   * Request in the client's dialect, if that is not the format of chat completions. An upstream that supports the dialect
   * receives this form.
   */
  readonly nativeRequest?: NativeRequest | undefined;
  /** Whether the client uses a dialect other than chat completions, so that Parley created the messages of the request. */
  readonly isTranslated?: boolean;
  /** Whether a header of the request asks for `usage.cost`. The client may also ask with `stream_options.include_cost`. */
  readonly includesCost?: boolean;
  /** Servers whose tools Parley runs for this call. */
  readonly remote?: RemoteTools | undefined;
  /** Affinity key. Calls with the same key use the same upstream while it is available. If undefined, calls are distributed. */
  readonly affinity?: string | undefined;
  /** Awaited after the limits admit the call and before any work starts. If it rejects, the reply ends with that error. */
  readonly onAdmitted?: (() => Promise<void>) | undefined;
}

/** Receives the reply to a call. If it throws, the reply ends with that error. */
export type ReplySink = Sink<Frame>;

/** A reply in progress. */
export interface Answer extends Handle {
  /** Header fields for the client, such as the remaining limits. Complete once the first frame or the error has been pushed. */
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of the request that did not reach a model. Complete once the first frame has been pushed. */
  readonly ignoredFields: ReadonlySet<string>;
  /** Resolves when the reply ends, even if it failed or was canceled. */
  readonly ended: Promise<void>;
  /** Returns the tokens used so far, one item per model. Includes the tokens of an interrupted reply. */
  used(): readonly ModelUsage[];
}

/** Embeddings in the format of OpenAI's API. */
export interface EmbeddingsReply extends Pick<Answer, 'headers' | 'used'> {
  readonly body: JsonObject;
}

/** Request to the application that serves a feature of a deployment, on behalf of a caller who may use that feature. */
export interface FeatureRequest {
  readonly endpoint: URL;
  readonly caller: Caller;
  readonly deployment: Deployment;
  readonly snapshot: ConfigSnapshot;
  readonly origin: CallOrigin;
  readonly requestId: string;
  /** If undefined, Parley sends a GET request. */
  readonly body?: { readonly bytes: Buffer; readonly type: string };
}

/** Response of an application to a feature request. */
export interface FeatureReply {
  readonly status: number;
  /** Includes the content type. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** Operations for calls from a surface or from a built-in application. Each error is a `ParleyError`. */
export interface Calls {
  /**
   * Throws if the deployment does not exist, does not support such calls, or is closed to the caller, or if consent is missing.
   */
  authorize(call: Call, use: DeploymentUse): Promise<Target>;
  /** Pushes the reply into `sink`. Throws an error with status 400 if the request is invalid. */
  answer(target: Target, input: ChatInput, sink: ReplySink): Answer;
  embed(target: Target, request: EmbeddingsRequest, signal: AbortSignal): Promise<EmbeddingsReply>;
  /** Passes a request through to an upstream, and pushes the response into `sink`. */
  passThrough(target: Target, request: PassThroughRequest, sink: Sink<PassThroughFrame>): Answer;
  /** Counts or estimates the tokens of a request. Does not charge the caller. */
  countTokens(target: Target, input: ChatInput, signal: AbortSignal): Promise<number>;
  /**
   * Calls the application that serves a feature of a deployment. Throws `upstream_failed` with status 502 if it does not
   * respond.
   */
  callFeature(request: FeatureRequest, signal: AbortSignal): Promise<FeatureReply>;
}

/** Reply to a call that an application makes while it answers. The reader consumes it frame by frame. */
export interface InnerReply {
  readonly frames: AsyncIterable<Frame>;
  /** Returns the tokens used so far, one item per model. Includes the tokens of an interrupted reply. */
  used(): readonly ModelUsage[];
}
