import type { ContentPart, CustomContent, Message } from '#contract/message.ts';
import type {
  ContentBlock,
  MessageParam,
  RedactedThinkingBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '#contract/messages/dialect.ts';
import { isFunctionCallId } from './call-ids.ts';
import { isTextPart, textPart, toParts } from './to-parts.ts';
import type { ToolNames } from './tool-names.ts';

/** A conversation of the dialect as messages of the compat wire. */
export function toMessages(params: readonly MessageParam[], names: ToolNames): Message[] {
  const called = new Map<string, string>();
  return params.flatMap(({ role, content, parley }) => {
    const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const custom = (parley as { custom_content?: CustomContent } | undefined)?.custom_content;
    if ((role as string) === 'system') return [{ role: 'system', content: toText(toParts(blocks)) }];
    if (role === 'user') return toUserMessages(blocks, custom, called);
    for (const { id, name } of blocks.filter(isToolUse)) called.set(id, names.shorten(name));
    return [toAssistantMessage(blocks, custom, called)];
  });
}

/** Results stand behind the calls they answer, so they come first; what of them is no text follows with the rest. */
function toUserMessages(
  blocks: readonly ContentBlock[],
  custom: CustomContent | undefined,
  called: ReadonlyMap<string, string>,
): Message[] {
  const messages: Message[] = [];
  const parts: ContentPart[] = [];
  for (const block of blocks.filter(isToolResult)) {
    const given = toParts(block.content ?? []);
    messages.push(toResultMessage(block, toText(given.filter(isTextPart)), called));
    const others = given.filter((part) => !isTextPart(part));
    if (others.length > 0) parts.push(textPart(`From the result of ${called.get(block.tool_use_id) ?? 'a tool'}:`), ...others);
  }
  parts.push(...toParts(blocks.filter((block) => !isToolResult(block))));
  if (parts.length > 0 || custom !== undefined || messages.length === 0) {
    const content = parts.every(isTextPart) ? toText(parts) : parts;
    messages.push({ role: 'user', content, ...(custom && { custom_content: custom }) });
  }
  return messages;
}

function toResultMessage(
  { tool_use_id: id, is_error }: ToolResultBlock,
  text: string,
  called: ReadonlyMap<string, string>,
): Message {
  const content = is_error ? `The tool failed: ${text}` : text;
  const name = called.get(id);
  return name !== undefined && isFunctionCallId(id)
    ? { role: 'function', name, content }
    : { role: 'tool', tool_call_id: id, content };
}

/** Thinking goes along as `thinking_blocks`: an upstream whose model thought it takes it back. */
function toAssistantMessage(
  blocks: readonly ContentBlock[],
  custom: CustomContent | undefined,
  called: ReadonlyMap<string, string>,
): Message {
  const calls = blocks.filter(isToolUse).map(({ id, input }) => ({
    id,
    type: 'function',
    function: { name: called.get(id) ?? '', arguments: JSON.stringify(input) },
  }));
  const thoughts = blocks.filter(isSignedThought);
  const text = toParts(blocks.filter(({ type }) => type === 'text'))
    .filter(isTextPart)
    .map((part) => part.text)
    .join('');
  const [first] = calls;
  return {
    role: 'assistant',
    content: text === '' && first !== undefined ? null : text,
    ...(thoughts.length > 0 && { thinking_blocks: thoughts }),
    ...(first !== undefined && (isFunctionCallId(first.id) ? { function_call: first.function } : { tool_calls: calls })),
    ...(custom && { custom_content: custom }),
  };
}

function toText(parts: readonly ContentPart[]): string {
  return parts
    .filter(isTextPart)
    .map(({ text }) => text)
    .join('\n\n');
}

function isToolUse(block: ContentBlock): block is ToolUseBlock {
  return block.type === 'tool_use';
}

function isToolResult(block: ContentBlock): block is ToolResultBlock {
  return block.type === 'tool_result';
}

/** Thinking without a signature came from a model that takes none back. */
function isSignedThought(block: ContentBlock): block is ThinkingBlock | RedactedThinkingBlock {
  return block.type === 'redacted_thinking' || (block.type === 'thinking' && block.signature !== '');
}
