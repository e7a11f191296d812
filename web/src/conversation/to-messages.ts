import type { Message } from '#contract/chat/message.ts';
import { isRejection } from '../service/service-error.ts';
import type { Question, Reply, Turn } from './conversation.ts';

/**
 * Converts turns to request messages. Omits empty replies, and questions that were rejected, because later requests would be
 * rejected with them.
 */
export function toMessages(turns: readonly Turn[]): readonly Message[] {
  return turns.flatMap((turn, index) => {
    if (turn.kind === 'reply') return fromReply(turn);
    return isRejected(turns[index + 1]) ? [] : [fromQuestion(turn)];
  });
}

function isRejected(reply: Turn | undefined): boolean {
  return reply?.kind === 'reply' && reply.fault !== undefined && isRejection(reply.fault) && fromReply(reply).length === 0;
}

function fromQuestion({ text, attachments, control, toolName }: Question): Message {
  if (toolName !== undefined) return { role: 'function', name: toolName, content: text };
  const custom = {
    ...(attachments.length > 0 && { attachments: attachments.map((attachment, index) => ({ ...attachment, index })) }),
    ...(control !== undefined && { completed_control: control }),
  };
  return { role: 'user', content: text, ...(Object.keys(custom).length > 0 && { custom_content: custom }) };
}

function fromReply({ text, custom, functionCall }: Reply): Message[] {
  const { attachments, state } = custom;
  if (text === '' && attachments === undefined && state === undefined && functionCall === undefined) return [];
  const content = { ...(attachments !== undefined && { attachments }), ...(state !== undefined && { state }) };
  const call = functionCall && { function_call: { name: '', arguments: '', ...functionCall } };
  return [
    { role: 'assistant', content: text, ...(Object.keys(content).length > 0 && { custom_content: content }), ...call } as Message,
  ];
}
