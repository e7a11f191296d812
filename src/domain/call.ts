import type { JsonObject } from '#base/json/json.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import type { Frame } from '#contract/chat/frame.ts';
import type { Caller } from './callers/caller.ts';
import type { ConfigSnapshot } from './deployments/config-snapshot.ts';
import type { Deployment, DeploymentUse } from './deployments/deployment.ts';
import type { Limit } from './limits/limits.ts';
import type { CallRecord } from './telemetry.ts';
import type { RemoteTools } from './tools/remote-server.ts';
import type { NativeRequest, PassedFrame, PassThroughRequest } from './upstreams/upstream.ts';

/** One request to one deployment, of which nothing is known to be allowed. */
export interface Call {
  /** Request id, shown to the caller as `X-Request-Id`. */
  readonly id: string;
  /** Id of the deployment, as asked for. */
  readonly deployment: string;
  readonly caller: Caller;
  /** Where its measures go; has its place in the trace. */
  readonly record: CallRecord;
  /** The request that it came with; absent for one that comes from nowhere. An application that runs here hands on its own. */
  readonly origin?: CallOrigin | undefined;
  /** Whether the caller asks how an application works; it is told if it may edit that. */
  readonly wantsTrace?: boolean;
  /** A version of an application that the caller made; absent: the one in force. */
  readonly version?: number;
}

/** The head of a request, as it came. */
export interface CallOrigin {
  readonly url?: string | undefined;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
}

declare const authorized: unique symbol;

/** A call that may go on to its deployment: the deployment exists, is open to the caller and consented to. Only `authorize` makes one. */
export interface Target {
  readonly call: Call;
  readonly deployment: Deployment;
  /** Ids from the root through the deployment. */
  readonly path: readonly string[];
  /** What its caller may use of the deployment; none: as much as there is. */
  readonly limits: readonly Limit[];
  /** The configuration when the call came: a reload does not change a call under way. */
  readonly snapshot: ConfigSnapshot;
  readonly [authorized]: true;
}

/** What a deployment that chats is asked. */
export interface ChatInput {
  readonly request: ChatRequest;
  /** The request in the dialect its caller speaks, if that is not the compat wire: for an upstream that speaks it too. */
  readonly native?: NativeRequest | undefined;
  /** Whether the client speaks another dialect than the compat wire, so that Parley wrote the messages of the request. */
  readonly isTranslated?: boolean;
  /** Whether the client asks by a header for `usage.cost`. It may also ask with `stream_options.include_cost`. */
  readonly includesCost?: boolean;
  /** Servers whose tools are run for this call; absent: none. */
  readonly remote?: RemoteTools | undefined;
  /** Calls with the same value go to the same upstream as long as it serves. Absent: they are spread. */
  readonly affinity?: string | undefined;
  /** Awaited once the call is within its limits, ahead of all work; what it throws ends the reply. */
  readonly admitted?: (() => Promise<void>) | undefined;
}

/** Takes the reply to a call. What it throws ends the reply with that error. */
export type ReplySink = Sink<Frame>;

/** A reply under way. */
export interface Answer extends Handle {
  /** Header fields for the caller, such as what is left of its limits; known from the first frame, or the failure, on. */
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of the request that did not reach a model; known from the first frame on. */
  readonly ignored: ReadonlySet<string>;
  /** Resolves when the reply is over, also if it failed or was canceled. */
  readonly ended: Promise<void>;
  /** Tokens used so far, one item for each model; also of a reply that broke off. */
  used(): readonly ModelUsage[];
}

/** Embeddings as OpenAI's API gives them. */
export interface EmbeddingsReply extends Pick<Answer, 'headers' | 'used'> {
  readonly body: JsonObject;
}

/** What the program is asked that serves a feature of a deployment, in the name of a caller who may use that. */
export interface FeatureRequest {
  readonly endpoint: URL;
  readonly caller: Caller;
  readonly deployment: Deployment;
  readonly snapshot: ConfigSnapshot;
  readonly origin: CallOrigin;
  readonly requestId: string;
  /** Absent: it is asked with GET. */
  readonly body?: { readonly bytes: Buffer; readonly type: string };
}

/** What it answered. */
export interface FeatureReply {
  readonly status: number;
  /** With the type of the content; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** The steps of every call, from a surface or from an application that runs here. What they throw is a ParleyError. */
export interface Calls {
  /** Throws if the deployment does not exist, is not open to the caller, does not answer such calls, or lacks a consent. */
  authorize(call: Call, use: DeploymentUse): Promise<Target>;
  /** Pushes the reply into `reply`; throws the 400 that the request deserves. */
  answer(target: Target, input: ChatInput, reply: ReplySink): Answer;
  embed(target: Target, request: EmbeddingsRequest, signal: AbortSignal): Promise<EmbeddingsReply>;
  /** Pushes the answer to a request that is passed through into `reply`. */
  passThrough(target: Target, request: PassThroughRequest, reply: Sink<PassedFrame>): Answer;
  /** Tokens of a request, counted or estimated. Nothing is charged. */
  countTokens(target: Target, input: ChatInput, signal: AbortSignal): Promise<number>;
  /** Asks the program that serves a feature of a deployment. Throws `upstream_failed` with the status 502 if it gives no answer. */
  callFeature(request: FeatureRequest, signal: AbortSignal): Promise<FeatureReply>;
}

/** The reply to a call that an application makes while it answers, for a reader that takes it frame by frame. */
export interface InnerReply {
  readonly frames: AsyncIterable<Frame>;
  /** Tokens used so far, one item for each model; also of a reply that broke off. */
  used(): readonly ModelUsage[];
}
