import type { Control, ResponseAttachment } from '#contract/chat/chunk.ts';
import type { Comparing } from './compare.ts';
import type { Conversation } from './read-conversation.ts';
import type { ToolOffer } from './read-tools.ts';

/** Everything a reply is planned from. */
export interface Situation {
  readonly conversation: Conversation;
  readonly offer: ToolOffer;
  readonly comparing: Comparing;
  /** Steps taken on the way, in order; whoever takes one adds it. */
  readonly steps: Step[];
}

/** A stage of the reply to be. */
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

/** What a reply will say. */
export interface Answer {
  readonly content: string;
  readonly calls?: readonly PlannedCall[];
  readonly attachments?: readonly ResponseAttachment[];
  readonly controls?: readonly Control[];
}

/** One way to answer; undefined if it does not apply. */
export type Responder = (situation: Situation) => Answer | undefined | Promise<Answer | undefined>;
