import type { Attachment, CompletedControl } from '#contract/chat/message.ts';

/** The next message of the user. */
export interface UserMessage {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly control?: CompletedControl;
  /** Entered values, in the words of the form. */
  readonly filled?: readonly string[];
  /** Name of the client tool whose result the text is. */
  readonly toolName?: string;
  /** Deployments for this message only, in place of the deployment of the chat. */
  readonly deployments?: readonly string[];
}
