import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { RemoteDelta } from '#contract/chat/chunk.ts';
import type { OfferedControl } from '#contract/chat/completed-control.ts';
import type { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import type { ApprovedCall } from '#domain/tools/remote-server.ts';
import type { MissingToolset, Tool, ToolAnswer } from '#domain/tools/tool.ts';
import type { Citations } from './citations.ts';
import type { ContextOptions } from './context/context-window.ts';
import type { ContextMemory } from './context/message-renderer.ts';
import type { HandoverMode } from './reply.ts';
import type { EarlierResults } from './results/full-results.ts';
import type { AcceptedMedia } from './tool-media.ts';
import type { PendingQuestion, RejectedCall } from './tool-run.ts';
import type { ToolCall } from './turn.ts';

/** Options of `runLoop`. */
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
  /** Tool lists and errors of the MCP servers that the request names, sent before the rest of the reply. Defaults to none. */
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
  /** Types and maximum number of media that the model accepts from tools. Defaults to none. */
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

/** A run that stopped for a tool's question, and the user's answer. */
export interface AnsweredQuestion {
  /** The first question is the one that the user answered. The remaining questions follow, one per reply. */
  readonly questions: readonly PendingQuestion[];
  /** Undefined if the user declined. */
  readonly value: ToolAnswer['value'];
  /** Calls of the client's tools that are returned to it afterward. */
  readonly pending: readonly ToolCall[];
}

/** The state of a run that the next request needs. */
export interface RunMemory {
  /** Messages that the run added to the conversation. */
  readonly added: readonly Message[];
  /** Calls of the client's tools in these messages that have no result yet. */
  readonly pending: readonly ToolCall[];
  /** Calls of the run's own tools that wait for the user. Absent if no call waits. */
  readonly questions?: readonly PendingQuestion[];
  /** Controls that the reply offered. */
  readonly controls: readonly OfferedControl[];
  /** State of the model's own last reply. */
  readonly inner: JsonObject | undefined;
  /** Complete results that the model saw only in part, by ID. Absent if all results were shown completely. */
  readonly fullResults?: Readonly<Record<string, string>>;
  /** Memory of the context window. If absent, the full conversation is sent. */
  readonly context?: ContextMemory | undefined;
  /** Whether the run failed after these messages and can be continued from there. If absent, it did not fail. */
  readonly isBroken?: true;
}
