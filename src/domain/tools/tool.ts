import type { JsonObject } from '#base/json/json.ts';
import type { ModelUsage, ResponseAttachment, StageDelta } from '#contract/chat/chunk.ts';
import type { QuickAppToolset } from '../quick-app/quick-app.ts';

/** A tool that a model can call. */
export interface Tool {
  /** Name in the toolset. The model sees a unique name of limited length. */
  readonly name: string;
  /** Description for the model. */
  readonly description: string;
  /** JSON Schema of the arguments, which are an object. */
  readonly parameters: JsonObject;
  /** Annotations from the server. Parley does not verify them. */
  readonly annotations?: JsonObject | undefined;
  /** Server of the tool, if the request named it. */
  readonly remote?: RemoteTool;
  /**
   * Runs the tool. A result with `failed`, or a thrown `ToolError`, reports a failure to the model. For any other error, the
   * model only learns that the tool failed. The arguments come from the model, so they are untrusted. They are validated only
   * if `parameters` is a usable schema.
   */
  run(args: JsonObject, context: ToolContext): Promise<ToolResult>;
}

/** Properties of a tool on a server that the request named. */
export interface RemoteTool {
  /** Label of the server. */
  readonly server: string;
  /** Name on the server. */
  readonly name: string;
  readonly needsApproval: boolean;
}

export interface ToolContext {
  /** Aborted when the client disconnects or the tool times out. */
  readonly signal: AbortSignal;
  /**
   * Reports progress to the user. Resolves after the client has read it, which slows down a tool that is faster than its
   * reader.
   */
  readonly report: (progress: ToolProgress) => Promise<void>;
  /**
   * Registers a passage and returns its citation number, which is stable throughout a conversation. The passage becomes an
   * attachment of the run's stage, and of the reply if the answer cites it.
   */
  readonly cite: (citable: Citable) => number;
  /** The user's answer to the question of the previous run. */
  readonly answer?: ToolAnswer | undefined;
  /** Maximum number of result bytes that the model receives. A longer result is truncated at the end. */
  readonly maxResultBytes: number;
}

export interface ToolProgress {
  /** Text to append to the stage of this run. */
  readonly content?: string;
  /** Stages of an inner reply, with the indices of that reply. */
  readonly stages?: readonly StageDelta[];
  /** Tokens used by inner calls, each reported once. */
  readonly usage?: readonly ModelUsage[];
}

/** An attachment without an index. */
export type Attachment = Omit<ResponseAttachment, 'index'>;

/** A passage that an answer may cite. */
export interface Citable {
  /** Attachment with quotable `data` and a source. */
  readonly attachment: Attachment;
  /** Text that the model reads. */
  readonly text: string;
  /** Whether it is the most relevant result of this run. At most one result is. */
  readonly isBest: boolean;
}

/** Citation instruction for the model. It follows the numbered passages and is not part of them. */
export const citationInstruction =
  'After each statement from a passage, write the number of the passage, such as [1]. The user sees the passages that you cite.';

export interface ToolResult {
  /** Text for the model. */
  readonly text: string;
  /** Attachments for the user. */
  readonly attachments: readonly Attachment[];
  readonly failed: boolean;
  /** Note for the model. It follows the text, even if the text is truncated. */
  readonly note?: string;
  /** Question for the user, which replaces the other fields. The run has not ended, and continues with the answer. */
  readonly question?: ToolQuestion;
}

/** Information that a tool needs from the user to continue. */
export interface ToolQuestion {
  /** Label of the control for the answer. */
  readonly label: string;
  /** Markdown text for the user, with the origin of the question. */
  readonly message: string;
  /** JSON Schema of the answer, which is an object. */
  readonly schema: JsonObject;
  /** State from which the tool continues. The user's client stores it, signed but not encrypted. */
  readonly resume: JsonObject;
}

export interface ToolAnswer {
  /** State from the question. */
  readonly resume: JsonObject;
  /** Answer that matches the schema. Undefined if the user declined. */
  readonly value: JsonObject | undefined;
}

/** A toolset, or a part of one, that could not be loaded. Both texts are for the user. */
export interface MissingToolset {
  readonly name: string;
  readonly reason: string;
  /** Time until the failure, in milliseconds. */
  readonly tookMs?: number;
}

/** Instructions for using tools, from the server that provides them. They are untrusted. */
export interface ToolsetInstructions {
  readonly toolset: string;
  readonly text: string;
}

/** Result of loading toolsets. Available tools work without the missing ones. */
export interface LoadedTools {
  readonly tools: readonly Tool[];
  readonly missing: readonly MissingToolset[];
  /** Instructions for the model. */
  readonly instructions?: readonly ToolsetInstructions[];
}

/** Machine-readable reasons why a server is unusable: `mute` if it does not answer in time, `failed` if no other reason applies. */
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

/** Error of a tool. The model and the user receive the message. */
export class ToolError extends Error {
  readonly reason: ToolErrorReason;

  constructor(message: string, cause?: unknown, reason: ToolErrorReason = 'failed') {
    super(message, { cause });
    this.name = 'ToolError';
    this.reason = reason;
  }
}

/** A test run of one tool at the request of a user, without a model. */
export interface ToolTestRun {
  readonly toolset: QuickAppToolset;
  /** Name in the toolset. */
  readonly tool: string;
  readonly args: JsonObject;
  /** User subject of the caller. */
  readonly subject: string;
  readonly signal: AbortSignal;
}

export interface ToolTestResult {
  /**
   * `not_run` means that the arguments do not match the schema. `asks` means that the tool continues only after the user
   * answers a question.
   */
  readonly outcome: 'answered' | 'failed' | 'not_run' | 'asks';
  /** Text that a model would receive. */
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** Set if the outcome is `asks`. */
  readonly question?: Pick<ToolQuestion, 'message' | 'schema'>;
  readonly durationMs: number;
}

/** A tool of a server, for a user who decides whether a model may call it. */
export interface OfferedTool {
  /** Name on the server. */
  readonly name: string;
  /** Display name. Empty if the server provides none. */
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the arguments. Undefined if it exceeds the size limit. */
  readonly parameters: JsonObject | undefined;
  /** Whether the server declares that the tool changes no data. Parley does not verify this. */
  readonly isReadOnly: boolean;
}

/** Current tools of a server. Credentials that the server echoes are masked. */
export interface ToolsetSurvey {
  readonly tools: readonly OfferedTool[];
  /** Number of all tools. `tools` may contain only the first of them. */
  readonly count: number;
  /** Names of tools whose description has an unusable form. */
  readonly omitted: readonly string[];
}
