import type { JsonObject } from '#base/json/json.ts';
import type { OfferedControl } from '#contract/chat/completed-control.ts';
import type { Message } from '#contract/chat/message.ts';
import type { ToolAnswer } from '#domain/tools/tool.ts';
import type { ContextMemory } from './context/message-renderer.ts';
import type { PendingQuestion } from './tool-run.ts';
import type { ToolCall } from './turn.ts';

/** A run that stopped for a question of a tool, and the user's answer. */
export interface AnsweredQuestion {
  /** The first is answered now; the others are asked after it, one with each reply. */
  readonly questions: readonly PendingQuestion[];
  /** Undefined: declined. */
  readonly value: ToolAnswer['value'];
  /** Calls of the caller's tools that are handed out then. */
  readonly pending: readonly ToolCall[];
}

/** What of a run is worth remembering. */
export interface RunMemory {
  /** Messages that the run added to the conversation. */
  readonly added: readonly Message[];
  /** Calls of the caller's tools among them, which have no answer yet. */
  readonly pending: readonly ToolCall[];
  /** Calls of the run's own tools that wait for the user; absent: none. */
  readonly questions?: readonly PendingQuestion[];
  /** Controls that the reply offered. */
  readonly controls: readonly OfferedControl[];
  /** State of the model's own last reply. */
  readonly inner: JsonObject | undefined;
  /** Whole results, by id, of which the model was shown a part; absent: none. */
  readonly fullResults?: Readonly<Record<string, string>>;
  /** What of the conversation is not sent any more; absent: all is. */
  readonly context?: ContextMemory | undefined;
  /** The run failed behind what is remembered, and can be gone on with from there; absent: it did not. */
  readonly isBroken?: true;
}
