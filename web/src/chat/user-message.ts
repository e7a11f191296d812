import type { Attachment, CompletedControl } from '#contract/chat/message.ts';

/** What the user says next. */
export interface UserMessage {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly control?: CompletedControl;
  /** What was filled in, in the words of its form. */
  readonly filled?: readonly string[];
  /** Who are asked this once, in place of whom the conversation is with. */
  readonly deployments?: readonly string[];
}
