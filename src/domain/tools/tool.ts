import type { JsonObject } from '#base/json/json.ts';
import type { ModelUsage, ResponseAttachment, StageDelta } from '#contract/chat/chunk.ts';
import type { QuickAppToolset } from '../quick-app/quick-app.ts';

/** Something a model can have done for it. */
export interface Tool {
  /** As its toolset names it; what the model sees is made unique and short enough. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** JSON Schema of the arguments: an object. */
  readonly parameters: JsonObject;
  /** What its server says of it, which nothing holds it to. */
  readonly annotations?: JsonObject | undefined;
  /** Present if the request itself named the server. */
  readonly remote?: RemoteTool;
  /**
   * Does it. What the model shall be told of a failure is a result with `failed`, or a ToolFault thrown; of anything else
   * thrown the model learns only that the tool failed. The arguments are the model's: hostile, checked against nothing.
   */
  run(args: JsonObject, context: ToolContext): Promise<ToolResult>;
}

/** What a tool is on a server that the request named. */
export interface RemoteTool {
  /** Label of the server. */
  readonly server: string;
  /** As the server names it. */
  readonly name: string;
  readonly needsApproval: boolean;
}

export interface ToolContext {
  /** Aborted when the caller leaves or the tool's time is over. */
  readonly signal: AbortSignal;
  /** Tells the user how the run goes; resolves once it was read, which holds back a tool that is faster than its reader. */
  readonly report: (progress: ToolProgress) => Promise<void>;
  /**
   * Makes something citable, and gives the number that the model may cite it by: the same throughout a conversation. It is an
   * attachment of the reply if the answer was made of it, and of the run's stage in any case.
   */
  readonly cite: (citable: Citable) => number;
  /** What the user answered to the question that the run before this one ended with. */
  readonly answer?: ToolAnswer | undefined;
  /** Bytes of the result that the model is shown; of a longer one it is shown the beginning. Absent: the tool's own bound. */
  readonly maxResultBytes?: number;
}

/** What a tool has to say while it runs. */
export interface ToolProgress {
  /** Text added to the stage of this run. */
  readonly content?: string;
  /** Stages of an inner reply, under that reply's own indices. */
  readonly stages?: readonly StageDelta[];
  /** Tokens used by inner calls, each reported once. */
  readonly usage?: readonly ModelUsage[];
}

/** An attachment that has no index yet. */
export type Attachment = Omit<ResponseAttachment, 'index'>;

/** A passage that an answer may be made of. */
export interface Citable {
  /** With a `data` that is worth quoting, and where it comes from. */
  readonly attachment: Attachment;
  /** What the model reads of it. */
  readonly text: string;
  /** Whether it is the most to the point of what this run of the tool found: at most one is. */
  readonly isBest: boolean;
}

/** What the model is told behind passages with numbers: it is no part of them, nor is what follows it. */
export const howToCite =
  'Behind what you take from a passage put its number, such as [1]; the user is shown the passages that you cite.';

export interface ToolResult {
  /** For the model. */
  readonly text: string;
  /** For the user. */
  readonly attachments: readonly Attachment[];
  readonly failed: boolean;
  /** For the model, behind the text however much of that it is shown. */
  readonly note?: string;
  /** What the user is asked in place of all that: the run is not over, and is run again with the answer. */
  readonly question?: ToolQuestion;
}

/** What a tool needs to know of the user before it can go on. */
export interface ToolQuestion {
  /** Of the control that the user answers with. */
  readonly label: string;
  /** For the user, as markdown: who asks, and what. */
  readonly message: string;
  /** JSON Schema of the answer: an object. */
  readonly schema: JsonObject;
  /** What the tool goes on from; the user keeps it, signed, not hidden. */
  readonly resume: JsonObject;
}

export interface ToolAnswer {
  /** As the question gave it. */
  readonly resume: JsonObject;
  /** Follows the schema; undefined if the user declined. */
  readonly value: JsonObject | undefined;
}

/** A toolset, or a part of one, that could not be had. Both texts are for the user. */
export interface MissingToolset {
  readonly name: string;
  readonly reason: string;
  /** Milliseconds until that was known. */
  readonly tookMs?: number;
}

/** How tools are used, in the words of the server that has them: nobody vouches for it. */
export interface ToolsetInstructions {
  readonly toolset: string;
  readonly text: string;
}

/** What toolsets gave: the rest works without what is missing. */
export interface LoadedTools {
  readonly tools: readonly Tool[];
  readonly missing: readonly MissingToolset[];
  /** For the model; absent: none. */
  readonly instructions?: readonly ToolsetInstructions[];
}

/** What keeps a server from being used, for programs. `failed`: anything that is not one of the others. */
export const toolErrorReasons = [
  'mute',
  'unreachable',
  'address_refused',
  'credentials_missing',
  'credentials_refused',
  'sign_in_required',
  'other_protocol',
  'failed',
] as const;
export type ToolErrorReason = (typeof toolErrorReasons)[number];

/** Why a tool could not do it; the message is told to the model and the user. */
export class ToolError extends Error {
  readonly reason: ToolErrorReason;

  constructor(message: string, cause?: unknown, reason: ToolErrorReason = 'failed') {
    super(message, { cause });
    this.name = 'ToolError';
    this.reason = reason;
  }
}

/** One run of one tool that somebody wants to see, without a model that asks for it. */
export interface ToolTestRun {
  readonly toolset: QuickAppToolset;
  /** As the toolset names it. */
  readonly tool: string;
  readonly args: JsonObject;
  /** User subject of the caller. */
  readonly subject: string;
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface ToolTestResult {
  /** `not_run`: the arguments do not follow the schema; `asks`: it goes on only when the user has answered a question. */
  readonly outcome: 'answered' | 'failed' | 'not_run' | 'asks';
  /** What a model would be told. */
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** Present with `asks`. */
  readonly question?: Pick<ToolQuestion, 'message' | 'schema'>;
  readonly durationMs: number;
}

/** A tool that a server offers, for whoever decides whether a model may call it. */
export interface OfferedTool {
  /** As the server names it. */
  readonly name: string;
  /** For people; '' where the server has none. */
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the arguments; undefined if there was no more room for it. */
  readonly parameters: JsonObject | undefined;
  /** Whether the server says that it changes nothing, which nothing holds it to. */
  readonly isReadOnly: boolean;
}

/** What a server offers at this moment. Credentials that it echoes are masked. */
export interface ToolsetSurvey {
  readonly tools: readonly OfferedTool[];
  /** How many it has, of which only the first may be among `tools`. */
  readonly count: number;
  /** Names of those that are described in a form that nobody can call them by. */
  readonly omitted: readonly string[];
}
