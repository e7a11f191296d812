import type { Control, ResponseAttachment } from '#contract/chat/chunk.ts';
import type { CompareDeps } from './compare.ts';
import type { Conversation, ToolOffer } from './read-request.ts';

/** Input for planning a reply. */
export interface Situation {
  readonly conversation: Conversation;
  readonly offer: ToolOffer;
  readonly compareDeps: CompareDeps;
  /** Steps so far, in order. Each responder adds its own steps. */
  readonly steps: Step[];
}

/** A stage of the planned reply. */
export interface Step {
  readonly name: string;
  readonly content: string;
  readonly status: 'completed' | 'failed';
  readonly attachments?: readonly ResponseAttachment[];
}

export interface PlannedCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** A planned reply. */
export interface Answer {
  readonly content: string;
  readonly calls?: readonly PlannedCall[];
  readonly attachments?: readonly ResponseAttachment[];
  readonly controls?: readonly Control[];
}

/** Function that plans an answer. Returns undefined if it does not apply. */
export type Responder = (situation: Situation) => Answer | undefined | Promise<Answer | undefined>;
