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

/** An outside endpoint that serves a deployment, as configured. */
export interface Upstream {
  /** Names it in measures, logs and reports; stable across reloads that do not touch where it is and what it serves. */
  readonly id: string;
  /** Changes with anything that is configured of its deployment except keys. The health of the upstream is stored under it. */
  readonly revision: string;
  readonly protocol: ProtocolName;
  /** Base address, or the full one for an application; undefined if the protocol needs none. */
  readonly endpoint: URL | undefined;
  readonly apiVersion: string | undefined;
  /** The APIs that it serves, if it speaks OpenAI's dialect; absent: chat completions. */
  readonly apis?: readonly UpstreamApi[];
  readonly region: string | undefined;
  readonly key: Secret | undefined;
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of a request that it refuses: they are left out. Absent: none. */
  readonly unsupportedFields?: readonly string[];
  /** Whether it accepts `reasoning_content` in messages. Absent: its protocol and its address decide. */
  readonly acceptsReasoning?: boolean;
  /** Whether system messages stay in place. Absent: upstreams of the chat dialect receive one leading system message. */
  readonly keepsSystemMessages?: boolean;
  readonly weight: number;
  readonly tier: number;
  readonly timeouts: { readonly connectMs: number; readonly firstByteMs: number; readonly idleMs: number };
  /** Whether it is reached only behind the network guard, since a user says where it is. */
  readonly isGuarded?: boolean;
}

/** A request as its caller sent it in a dialect other than the compat wire. */
export interface NativeRequest {
  readonly dialect: Native['dialect'];
  /** The validated body. An upstream that speaks the dialect is sent it with its own name of the model, and nothing else changed. */
  readonly body: JsonObject;
  /** Header fields that belong to the dialect, such as its version; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One attempt at one upstream. */
export interface Attempt<Request = ChatRequest> {
  readonly upstream: Upstream;
  readonly request: Request;
  /** Header fields sent on: trace context and request id; to a program also those of the caller, and its per-request key. */
  readonly headers: Readonly<Record<string, string>>;
  /** The caller's query, for a program; that of the endpoint wins. */
  readonly query?: string | undefined;
  /** Called with the header fields of the answer, good or bad, of a program. */
  readonly onHeaders?: ((headers: ReplyHeaders) => void) | undefined;
  /** Tokens that a reply of the deployment may have; absent if the configuration does not say. For dialects that must name a bound. */
  readonly maxCompletionTokens?: number | undefined;
  /**
   * The same request in the caller's own dialect: a protocol that speaks it relays this in place of `request`, and gives
   * frames with `native`. Others answer `request` on the compat wire.
   */
  readonly native?: NativeRequest;
  /** Whether Parley translated the messages of the request from the dialect of the client. */
  readonly isTranslated?: boolean | undefined;
  /** Called ahead of the reply with fields of the request that the upstream is not sent, or not as they came. */
  readonly noteIgnored?: (fields: readonly string[]) => void;
}

/** A request that goes to the upstream as it came, but for the name of the model: a JSON object, or a form and what it may lack. */
export type PassThroughRequest = { readonly api: PassThroughApi } & (
  | { readonly body: JsonObject }
  | { readonly form: FormFields; readonly defaults: Readonly<Record<string, unknown>> }
);

/** The fields of a form but for `model`, while they come from its caller. */
export interface FormFields {
  /** The boundary of the form that they are written as. */
  readonly boundary: string;
  /** Estimated tokens of its text, as far as it has come. */
  readonly promptTokens: number;
  /** Whether `open` can give all of it: more than a little is not kept once it is sent. */
  readonly isComplete: boolean;
  /** The fields, then the defaults that it lacks, to the end of the form. What is wrong with it is thrown as a ParleyError while it is read. */
  open(defaults: Readonly<Record<string, unknown>>): FormPieces;
}

export interface FormPieces {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Bytes of all of them; undefined while the rest is still to come. */
  readonly length: number | undefined;
}

/** A piece of an answer that is passed through. */
export interface PassedFrame {
  /** As latin1 bytes: of events whole ones; the only piece if the answer is JSON. */
  readonly bytes: string;
  /** Of the whole answer. */
  readonly kind: 'json' | 'events' | 'raw';
  readonly contentType: string;
  /** Tokens, if the upstream tells them here. */
  readonly usage?: JsonObject;
  /** Chars of text in it. */
  readonly chars: number;
}

/** Takes the reply of an upstream: frames of the compat wire, of which nothing is trusted, up to the upstream's own end mark. */
export type UpstreamSink = Sink<RawFrame>;

/** How one kind of upstream is spoken to. What goes wrong is an UpstreamFault, also after the first frame. */
export interface ChatProtocol {
  /** Whether one request can ask for several choices; else that many are sent. */
  readonly hasChoices: boolean;
  /** Pushes the reply into `reply`, nothing of it before it has returned. */
  chat(attempt: Attempt, reply: UpstreamSink): Handle;
  /** Pushes the one reply to an embeddings request, as OpenAI's API gives it; absent if the protocol has none. */
  embed?(attempt: Attempt<EmbeddingsRequest>, reply: Sink<JsonObject>): Handle;
  /** Pushes the answer to a request of an API that is passed through; absent if the protocol has none. */
  passThrough?(attempt: Attempt<PassThroughRequest>, reply: Sink<PassedFrame>): Handle;
  /** Pushes the number of tokens of the request in `native`, as the upstream counts them; absent if it has no way to ask. */
  countTokens?(attempt: Attempt, reply: Sink<number>): Handle;
}

export type UpstreamErrorKind =
  /** No connection, or none in time. */
  | 'unreachable'
  /** Nothing, or nothing more, in time. */
  | 'timeout'
  /** It answered with a status that is no success. */
  | 'refused'
  /** It broke off, or sent what is no reply. */
  | 'broken';

export interface UpstreamErrorDetails {
  readonly status?: number;
  readonly type?: string | null;
  readonly param?: string | null;
  readonly code?: string | null;
  /** What it would have people shown in place of the message. */
  readonly displayMessage?: string | null;
  /** Whether no connection stood: then the request cannot be to blame. */
  readonly isBeforeRequest?: boolean;
  readonly retryAfterSeconds?: number;
  /** Whether what came with the status is no error of an API, but of whatever else stands at the address. */
  readonly isNoApi?: boolean;
  readonly cause?: unknown;
}

/** Why an upstream gave no good reply. The message is the upstream's own if it sent one, else ours. */
export class UpstreamError extends Error {
  readonly kind: UpstreamErrorKind;
  readonly status: number | undefined;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string | null;
  readonly displayMessage: string | null;
  readonly isBeforeRequest: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly isNoApi: boolean;

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
    this.isNoApi = details.isNoApi ?? false;
  }
}

/** Whether an upstream speaks the Messages dialect: a caller of it is relayed. */
export function speaksMessages(upstream: Upstream): boolean {
  return protocols[upstream.protocol].speaksMessages(upstream);
}

/** Whether an upstream has a mode for JSON of whatever schema. The Messages dialect has none. */
export function hasJsonMode(upstream: Upstream): boolean {
  return protocols[upstream.protocol].hasJsonMode && !speaksMessages(upstream);
}

/** Whether an upstream serves the Responses API: a caller of it is relayed. */
export function speaksResponses({ apis }: Pick<Upstream, 'apis'>): boolean {
  return apis?.includes('responses') === true;
}
