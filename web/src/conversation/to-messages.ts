import type { Message } from '#contract/chat/message.ts';
import { isRejection } from '../service/service-error.ts';
import type { Question, Reply, Turn } from './conversation.ts';

/**
 * Converts turns to request messages. Omits empty replies. Also omits rejected questions and tool calls without results, because
 * the service would reject each later request that contains them.
 */
export function toMessages(turns: readonly Turn[]): readonly Message[] {
  return turns.flatMap((turn, index) => {
    const next = turns[index + 1];
    if (turn.kind === 'question') return isRejected(next) ? [] : fromQuestion(turn);
    return fromReply(turn, next?.kind === 'question' && next.toolResults !== undefined && !isRejected(turns[index + 2]));
  });
}

function isRejected(reply: Turn | undefined): boolean {
  return reply?.kind === 'reply' && reply.fault !== undefined && isRejection(reply.fault) && fromReply(reply, false).length === 0;
}

function fromQuestion({ text, attachments, control, toolName, toolResults }: Question): Message[] {
  if (toolName !== undefined) return [{ role: 'function', name: toolName, content: text }];
  if (toolResults !== undefined)
    return toolResults.map((result) => ({ role: 'tool', tool_call_id: result.id, content: result.text }));
  const custom = {
    ...(attachments.length > 0 && { attachments: attachments.map((attachment, index) => ({ ...attachment, index })) }),
    ...(control !== undefined && { completed_control: control }),
  };
  return [{ role: 'user', content: text, ...(Object.keys(custom).length > 0 && { custom_content: custom }) }];
}

function fromReply({ text, custom, functionCall, toolCalls }: Reply, hasResults: boolean): Message[] {
  const { attachments, state } = custom;
  const call = {
    ...(functionCall !== undefined && { function_call: { name: '', arguments: '', ...functionCall } }),
    ...(toolCalls !== undefined && hasResults && { tool_calls: toolCalls }),
  };
  if (text === '' && attachments === undefined && state === undefined && Object.keys(call).length === 0) return [];
  const content = { ...(attachments !== undefined && { attachments }), ...(state !== undefined && { state }) };
  return [
    { role: 'assistant', content: text, ...(Object.keys(content).length > 0 && { custom_content: content }), ...call } as Message,
  ];
}
