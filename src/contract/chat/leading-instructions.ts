import { isTextPart, toTextPart } from './content.ts';
import { type ContentPart, isInstruction, type Message } from './message.ts';

/** Separator between the texts of merged messages. */
const paragraph = '\n\n';

/**
 * Merges all system and developer messages into one leading message, as strict chat templates require. The leading message is a
 * system message unless all of them are developer messages. Returns the same array if there is at most one such message and it is
 * the first.
 */
export function withLeadingInstructions(messages: Message[]): Message[] {
  if (!needsFolding(messages)) return messages;
  const instructions = messages.filter(isInstruction);
  const leading = instructions.find(({ role }) => role === 'system') ?? instructions[0];
  if (leading === undefined) return messages;
  const content = joinContents(instructions.map((message) => message.content ?? ''));
  return [{ ...leading, content }, ...messages.filter((message) => !isInstruction(message))];
}

/**
 * Merges consecutive user messages, for templates in which user and assistant must alternate. Messages with a name or another
 * additional field stay separate. Returns the same array if there are no messages to merge.
 */
export function withJoinedUserMessages(messages: Message[]): Message[] {
  const groups: Message[][] = [];
  for (const message of messages) {
    const group = groups.at(-1);
    if (group?.[0] !== undefined && isPlainUser(group[0]) && isPlainUser(message)) group.push(message);
    else groups.push([message]);
  }
  return groups.length === messages.length
    ? messages
    : groups.flatMap((group) => (group.length === 1 ? group : joinUsers(group)));
}

function joinUsers(messages: readonly Message[]): Message {
  return { role: 'user', content: joinContents(messages.map(({ content }) => content ?? '')) };
}

function isPlainUser({ role, content, ...otherFields }: Message): boolean {
  return role === 'user' && Object.keys(otherFields).length === 0;
}

function needsFolding(messages: readonly Message[]): boolean {
  for (let index = 1; index < messages.length; index += 1) if (isInstruction(messages[index] as Message)) return true;
  return false;
}

/**
 * Joins contents into one text. Parts with additional fields, such as `cache_control`, stay separate. The texts between them become
 * one part each.
 */
function joinContents(contents: readonly NonNullable<Message['content']>[]): string | ContentPart[] {
  const parts = contents.flatMap((content) => (typeof content === 'string' ? [toTextPart(content)] : content));
  const joined: ContentPart[] = [];
  let texts: string[] = [];
  const endText = (): void => {
    if (texts.length > 0) joined.push(toTextPart(texts.join(paragraph)));
    texts = [];
  };
  for (const part of parts) {
    if (part.text === '') continue;
    if (isPlainText(part)) texts.push(part.text);
    else {
      endText();
      joined.push(part);
    }
  }
  if (joined.length === 0) return texts.join(paragraph);
  endText();
  return joined;
}

function isPlainText(part: ContentPart): part is ContentPart & { text: string } {
  return isTextPart(part) && Object.keys(part).length === 2;
}
