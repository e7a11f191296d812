import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { RemoteDelta } from '#contract/chat/chunk.ts';
import type { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import type { ApprovedCall } from '#domain/tools/remote-server.ts';
import type { MissingToolset, Tool } from '#domain/tools/tool.ts';
import type { Citations } from './citations.ts';
import type { ContextOptions } from './context/context-window.ts';
import type { HandoverMode } from './reply.ts';
import type { EarlierResults } from './results/full-results.ts';
import type { AnsweredQuestion, RunMemory } from './run-memory.ts';
import type { AcceptedMedia } from './tool-media.ts';
import type { RejectedCall } from './tool-run.ts';

export interface LoopOptions {
  /** Sends one request to the model. The iterable ends without an error only after a complete reply. */
  readonly sendRequest: (request: ChatRequest) => AsyncIterable<Frame>;
  /** The client's request. It may contain the client's own tools, whose calls are returned to the client. */
  readonly request: ChatRequest;
  readonly tools: readonly Tool[];
  /** Deployment ID of the model. Usage that the model reports without statistics is attributed to it. */
  readonly model: string;
  /** Deployment ID that the reply names. Defaults to the model's. */
  readonly deployment?: string;
  /** ID of the reply. */
  readonly id: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Maximum number of requests to the model. The last one has no tools. */
  readonly maxTurns: number;
  /** Maximum duration of one tool run in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of bytes of a tool result in the conversation of the model. */
  readonly maxResultBytes: number;
  /** Unavailable toolsets. Each becomes a failed stage before the rest of the reply. */
  readonly missing?: readonly MissingToolset[];
  /** Messages that the run added before it stopped to wait for its client. Defaults to none. */
  readonly added?: readonly Message[];
  /** The question that the run stopped for, if the user has answered it. Defaults to none. */
  readonly answeredQuestion?: AnsweredQuestion | undefined;
  /** Server deltas to send before the rest of the reply. Defaults to none. */
  readonly serverDeltas?: readonly RemoteDelta[];
  /** Approved calls, which have no result in the request and run first. Defaults to none. */
  readonly approvedCalls?: readonly ApprovedCall[];
  /** Whether to send the state of the responding application back to it with each turn. Defaults to false. */
  readonly shouldReturnState?: boolean;
  /** How calls of the client's tools are returned to the client. Defaults to `all tools`. */
  readonly handoverMode?: HandoverMode;
  /**
   * Builds the reply's `state`. Called once, at the end of the run. If defined, the state of the model's own reply is not sent
   * to the client.
   */
  readonly buildState?: (memory: RunMemory) => Promise<JsonObject | undefined> | JsonObject | undefined;
  /** Types and number of media from tools that the model accepts. Defaults to none. */
  readonly acceptedMedia?: AcceptedMedia | undefined;
  /** Citations, including those from earlier runs of the conversation. Defaults to none. */
  readonly citations?: Citations;
  /** Whether the model accepts a response schema together with tools. Defaults to true. */
  readonly acceptsFormatWithTools?: boolean | undefined;
  /** Options for long conversations. If absent, the conversation is never shortened. */
  readonly context?: ContextOptions;
  /** Stored results from earlier runs that the model saw only in part. Defaults to none. */
  readonly earlierResults?: readonly EarlierResults[];
  /** Called for each tool that the run itself adds. Returns the tool to run instead. */
  readonly wrapTool?: ((tool: Tool) => Tool) | undefined;
  /** Called with tool errors whose message must not be disclosed. */
  readonly onToolError?: (tool: string, error: unknown) => void;
  /** Called for each call that was rejected before its tool ran. */
  readonly onRejectedCall?: ((call: RejectedCall) => void) | undefined;
}
