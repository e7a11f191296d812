import type { Message } from './message.ts';

/** The names of speakers that OpenAI's API accepts. */
export const messageName = /^[^\s<|\\/>]{1,64}$/;

/** Characters that an older or narrower API refuses in the name of a speaker. */
export const refusedInNames = {
  /** Azure's API, and OpenAI's before it was widened. */
  azure: /[^a-zA-Z0-9_-]/g,
  /** The interface of applications (docs/wire.md, Chat request). */
  application: /[^a-zA-Z0-9_]/g,
} as const;

/**
 * Returns the messages and replaces each refused character in speaker names by `_`. Returns the original array if the names have
 * no such character.
 */
export function withReducedNames(messages: Message[], refused: RegExp): Message[] {
  if (!messages.some((message) => isSpeaker(message) && message.name?.search(refused) !== -1)) return messages;
  return messages.map((message) =>
    isSpeaker(message) && message.name !== undefined ? { ...message, name: message.name.replace(refused, '_') } : message,
  );
}

/** Returns whether the name belongs to a speaker. Results name a function or a tool. */
function isSpeaker({ role, name }: Message): boolean {
  return name !== undefined && role !== 'function' && role !== 'tool';
}
