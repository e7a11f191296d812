import type { JsonObject } from '#base/json/json.ts';
import type { OfferedControl } from '#contract/chat/completed-control.ts';
import type { Message } from '#contract/chat/message.ts';
import type { ToolAnswer } from '#domain/tools/tool.ts';
import type { ContextMemory } from './context/message-renderer.ts';
import type { PendingQuestion } from './tool-run.ts';
import type { ToolCall } from './turn.ts';

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
