import type { Attachment, CompletedControl } from '#contract/chat/message.ts';
import type { ToolResult } from '../conversation/conversation.ts';

/** The next message of the user. */
export interface UserMessage {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly control?: CompletedControl;
  /** Entered values, in the words of the form. */
  readonly filled?: readonly string[];
  /** Name of the client tool whose result the text is. */
  readonly toolName?: string;
  /** Results of tool calls, in their order. The text contains them too. */
  readonly toolResults?: readonly ToolResult[];
  /** Deployments for this message only, in place of the deployment of the chat. */
  readonly deployments?: readonly string[];
}
