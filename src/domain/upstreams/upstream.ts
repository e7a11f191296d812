import type { ReplyHeaders } from '#base/http/client.ts';
import type { JsonObject } from '#base/json/json.ts';
import type { Secret } from '#base/secrets/secret.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import type { Native, RawFrame } from '#contract/chat/frame.ts';
import { type ProtocolName, protocols } from '#contract/configuration/protocols.ts';
import type { PassThroughApi } from '#contract/pass-through.ts';

/** An API of OpenAI's family that an upstream can serve. */
export type UpstreamApi = 'chat' | 'responses' | PassThroughApi;

/** A configured external endpoint that serves a deployment. */
export interface Upstream {
  /** ID in metrics, logs, and reports. Does not change on reloads that keep the address and the model. */
  readonly id: string;
  /** Changes if any setting of the deployment except a key changes. The health of the upstream is stored under it. */
  readonly revision: string;
  readonly protocol: ProtocolName;
  /** Base address, or the complete address for an application. Undefined if the protocol needs none. */
  readonly endpoint: URL | undefined;
  readonly apiVersion: string | undefined;
  /** APIs that an upstream with OpenAI's dialect serves. If undefined, chat completions. */
  readonly apis?: readonly UpstreamApi[];
  readonly region: string | undefined;
  readonly key: Secret | undefined;
  /** Name of the model at the upstream. */
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Request fields that the upstream rejects. Parley omits them. */
  readonly unsupportedFields?: readonly string[];
  /** Whether the upstream accepts `reasoning_content` in messages. If undefined, the protocol and the address decide. */
  readonly acceptsReasoning?: boolean;
  /** Whether system messages keep their positions. Otherwise upstreams of the chat dialect receive one leading system message. */
  readonly preservesSystemMessages?: boolean;
  readonly weight: number;
  readonly tier: number;
  /** Maximum number of calls in progress on this node. Undefined means unlimited. */
  readonly maxParallel?: number;
  readonly timeouts: { readonly connectMs: number; readonly firstByteMs: number; readonly idleMs: number };
  /** Whether requests pass the network guard, because a user provided the address. */
  readonly isGuarded?: boolean;
}

/** Returns the endpoint of an upstream. Throws `UpstreamError` if it has none. */
export function requireEndpoint({ endpoint }: Upstream): URL {
  if (endpoint === undefined) throw new UpstreamError('broken', 'The upstream has no endpoint.');
  return endpoint;
}

/** A request in a dialect other than chat completions, as the client sent it. */
export interface NativeRequest {
  readonly dialect: Native['dialect'];
  /** Validated body. An upstream that supports the dialect receives it unchanged, except for the name of the model. */
  readonly body: JsonObject;
  /** Header fields of the dialect, such as its version. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Error to throw for an upstream without this dialect, if the translation to chat completions drops essential content. */
  readonly translationError?: UpstreamError | undefined;
}

/** Remaining quota of Parley's account at an upstream, as a reply reports it. */
export interface UpstreamQuota {
  /** Between 0 and 1. */
  readonly remainingShare: number;
  /** Milliseconds until the complete quota is available again. */
  readonly resetMs: number;
  /** Requests or tokens of the complete quota. */
  readonly limit: number;
}

/** One attempt at one upstream. */
export interface Attempt<Request = ChatRequest> {
  readonly upstream: Upstream;
  readonly request: Request;
  /**
   * Header fields to send: trace context and request ID. Applications also receive client headers and a per-request key.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Query of the client, for an application. Parameters of the endpoint take precedence. */
  readonly query?: string | undefined;
  /** Called with the header fields of an application's response, even if it is an error. */
  readonly onHeaders?: ((headers: ReplyHeaders) => void) | undefined;
  /** Called with the header fields of every response, which can report a quota. */
  readonly onQuotaHeaders?: ((upstream: Upstream, headers: ReplyHeaders) => void) | undefined;
  /**
   * Maximum number of tokens in a reply of the deployment, for dialects that require a bound. Undefined if it is not
   * configured.
   */
  readonly maxCompletionTokens?: number | undefined;
  /**
   * The request in the client's dialect. A protocol that supports it sends this instead of `request`, and returns frames with
   * `native`. All other protocols send `request` in the format of chat completions.
   */
  readonly nativeRequest?: NativeRequest;
  /** Whether Parley translated the messages of the request from the client's dialect. */
  readonly isTranslated?: boolean | undefined;
  /** Called before the reply with the names of request fields that Parley drops or changes for the upstream. */
  readonly onIgnored?: (fields: readonly string[]) => void;
}

/**
 * A request that the upstream receives unchanged, except for the name of the model: a JSON object, or a form and its defaults.
 */
export type PassThroughRequest = { readonly api: PassThroughApi } & (
  | { readonly body: JsonObject }
  | { readonly form: FormFields; readonly defaults: Readonly<Record<string, unknown>> }
);

/** Fields of a form except `model`, which the client may still be sending. */
export interface FormFields {
  readonly boundary: string;
  /** Estimated tokens of the text received so far. */
  readonly promptTokens: number;
  /** Whether `open` can return the complete form again. Large forms are not retained after they are sent. */
  readonly canReopen: boolean;
  /**
   * Returns the fields, followed by defaults for missing fields, up to the end of the form. Reading throws a `ParleyError` if
   * the form is invalid.
   */
  open(defaults: Readonly<Record<string, unknown>>): FormPieces;
}

export interface FormPieces {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Total number of bytes. Undefined until the client has sent the complete form. */
  readonly length: number | undefined;
}

/** A part of a response that is passed through. */
export interface PassThroughFrame {
  /** Bytes as a latin1 string. Contains only complete events. A JSON response has one part. */
  readonly bytes: string;
  /** Kind of the complete response. */
  readonly kind: 'json' | 'events' | 'raw';
  readonly contentType: string;
  /** Token usage, if the upstream reports it in this part. */
  readonly usage?: JsonObject;
  /** Number of text characters in this part. */
  readonly chars: number;
}

/** Receives the reply of an upstream: untrusted frames of chat completions, up to the upstream's end marker. */
export type UpstreamSink = Sink<RawFrame>;

/** Client for one kind of upstream. All errors are `UpstreamError`, also after the first frame. */
export interface ChatProtocol {
  /** Whether one request can ask for several choices. Otherwise Parley sends one request per choice. */
  readonly supportsSeveralChoices: boolean;
  /** Pushes the reply into `reply`, but only after this method has returned. */
  chat(attempt: Attempt, reply: UpstreamSink): Handle;
  /** Pushes the reply to an embeddings request in the format of OpenAI's API. Undefined if the protocol has no embeddings. */
  embed?(attempt: Attempt<EmbeddingsRequest>, reply: Sink<JsonObject>): Handle;
  /** Pushes the response to a request that is passed through. Undefined if the protocol does not support this. */
  passThrough?(attempt: Attempt<PassThroughRequest>, reply: Sink<PassThroughFrame>): Handle;
  /**
   * Pushes the number of tokens of `nativeRequest`, as the upstream counts them. Undefined if the protocol cannot count tokens.
   */
  countTokens?(attempt: Attempt, reply: Sink<number>): Handle;
}

export type UpstreamErrorKind =
  /** No connection, or a connection timeout. */
  | 'unreachable'
  /** No response in time, or a response that stalled. */
  | 'timeout'
  /** A response with an error status. */
  | 'refused'
  /** A connection that broke off, or an invalid reply. */
  | 'broken';

export interface UpstreamErrorDetails {
  readonly status?: number | undefined;
  readonly type?: string | null;
  readonly param?: string | null;
  readonly code?: string | null;
  /** Message for users that the upstream provides instead of `message`. */
  readonly displayMessage?: string | null;
  /** Whether there was no connection, so that the request cannot be the cause. */
  readonly isBeforeRequest?: boolean;
  readonly retryAfterSeconds?: number | undefined;
  /** Whether the body is not an API error, so that another server probably answered. */
  readonly isNotFromModelApi?: boolean;
  /** Whether the error comes from a failed response of the Responses API, which has no HTTP status. */
  readonly isFailedResponse?: boolean;
  readonly cause?: unknown;
}

/** A failed call of an upstream. The message comes from the upstream if it sent one, otherwise from Parley. */
export class UpstreamError extends Error {
  readonly kind: UpstreamErrorKind;
  readonly status: number | undefined;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string | null;
  readonly displayMessage: string | null;
  readonly isBeforeRequest: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly isNotFromModelApi: boolean;
  readonly isFailedResponse: boolean;

  constructor(kind: UpstreamErrorKind, message: string, details: UpstreamErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'UpstreamError';
    this.kind = kind;
    this.status = details.status;
    this.type = details.type ?? null;
    this.param = details.param ?? null;
    this.code = details.code ?? null;
    this.displayMessage = details.displayMessage ?? null;
    this.isBeforeRequest = details.isBeforeRequest ?? false;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.isNotFromModelApi = details.isNotFromModelApi ?? false;
    this.isFailedResponse = details.isFailedResponse ?? false;
  }
}

/** Returns whether an upstream supports the Messages dialect, so that Parley relays requests in this dialect. */
export function speaksMessages(upstream: Upstream): boolean {
  return protocols[upstream.protocol].speaksMessages(upstream);
}

/** Returns whether an upstream has a JSON mode without a schema. The Messages dialect has none. */
export function hasJsonMode(upstream: Upstream): boolean {
  return protocols[upstream.protocol].hasJsonMode && !speaksMessages(upstream);
}

/** Returns whether an upstream serves the Responses API, so that Parley relays requests of this API. */
export function speaksResponses({ apis }: Pick<Upstream, 'apis'>): boolean {
  return apis?.includes('responses') === true;
}
