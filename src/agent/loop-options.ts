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
  /** One call of the model; its frames end only after a good end. */
  readonly sendRequest: (request: ChatRequest) => AsyncIterable<Frame>;
  /** What the caller asked. Tools in it are the caller's own: it is handed their calls. */
  readonly request: ChatRequest;
  readonly tools: readonly Tool[];
  /** Deployment id of the model, for usage that comes without statistics. */
  readonly model: string;
  /** Deployment id of what answers; absent: that of the model. */
  readonly deployment?: string;
  /** Id of the reply. */
  readonly id: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Calls of the model, the last one without tools. */
  readonly maxTurns: number;
  /** Milliseconds one tool run may take. */
  readonly timeoutMs: number;
  /** Bytes of a tool's result that the model is shown. */
  readonly maxResultBytes: number;
  /** Toolsets that are missing, each shown as a failed stage before anything else. */
  readonly missing?: readonly MissingToolset[];
  /** Messages that the run added before it stopped for its caller; default none. */
  readonly added?: readonly Message[];
  /** What the run stopped for, if it goes on with the user's answer; default none. */
  readonly answeredQuestion?: AnsweredQuestion | undefined;
  /** What is told of servers ahead of everything else; default nothing. */
  readonly serverDeltas?: readonly RemoteDelta[];
  /** Calls without a result in the request that are run first, by the request for approval that was granted; default none. */
  readonly approvedCalls?: readonly ApprovedCall[];
  /** Whether what answers is given its state back with each turn, as an application is; default not. */
  readonly shouldReturnState?: boolean;
  /** Default: all tools. */
  readonly handoverMode?: HandoverMode;
  /** Makes the reply's `state`, asked once, at the end; with it, the state of the model's own reply does not reach the caller. */
  readonly buildState?: (memory: RunMemory) => Promise<JsonObject | undefined> | JsonObject | undefined;
  /** What of its tools' images and documents the model can be shown; default none. */
  readonly acceptedMedia?: AcceptedMedia | undefined;
  /** What can be cited, with what earlier runs of the conversation gave; default nothing before. */
  readonly citations?: Citations;
  /** Whether the model can be asked for an answer of a schema and be offered tools at once; default it can. */
  readonly takesFormatWithTools?: boolean | undefined;
  /** How long the conversation may be; absent: nothing is done if it is too long. */
  readonly context?: ContextOptions;
  /** What earlier runs of the conversation kept of results that the model was shown in part; default nothing. */
  readonly earlierResults?: readonly EarlierResults[];
  /** Called with tools that the run has of its own, for one that is run in its place. */
  readonly wrapTool?: ((tool: Tool) => Tool) | undefined;
  /** Called with tool faults whose reason is shown to nobody. */
  readonly onToolError?: (tool: string, error: unknown) => void;
  /** Called with calls that no tool was run for. */
  readonly onRejectedCall?: ((call: RejectedCall) => void) | undefined;
}
