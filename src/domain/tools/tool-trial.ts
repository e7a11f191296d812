import type { JsonObject } from '#base/json/json.ts';
import type { QuickAppToolset } from '../quick-app/quick-app.ts';
import type { Attachment, ToolQuestion } from './tool.ts';

/** One run of one tool that somebody wants to see, without a model that asks for it. */
export interface ToolTrial {
  readonly toolset: QuickAppToolset;
  /** As the toolset names it. */
  readonly tool: string;
  readonly args: JsonObject;
  /** User subject of the caller. */
  readonly subject: string;
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface TriedTool {
  /** `not_run`: the arguments do not follow the schema; `asks`: it goes on only when the user has answered a question. */
  readonly outcome: 'answered' | 'failed' | 'not_run' | 'asks';
  /** What a model would be told. */
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** Present with `asks`. */
  readonly question?: Pick<ToolQuestion, 'message' | 'schema'>;
  readonly durationMs: number;
}
