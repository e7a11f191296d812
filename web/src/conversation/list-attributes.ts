import type { Conversation } from './conversation.ts';

/** Attributes of a chat in the list. */
export type ListAttributes = Pick<Conversation, 'title' | 'pinned' | 'archived' | 'tags'>;

/** Returns the list attributes of a chat, with defaults for missing ones. */
export function getListAttributes({
  title,
  pinned = false,
  archived = false,
  tags = [],
}: ListAttributes): Required<ListAttributes> {
  return { title, pinned, archived, tags };
}

export function hasSameListAttributes(left: ListAttributes, right: ListAttributes): boolean {
  return isSame(getListAttributes(left), getListAttributes(right));
}

/** Whether two JSON values are equal and have their fields in the same order. */
export function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Merges remote changes since the common `base`. Local changes take precedence. */
export function mergeListAttributes(local: Conversation, remote: ListAttributes, base: ListAttributes | undefined): Conversation {
  if (base === undefined) return local;
  const [localValues, baseValues] = [getListAttributes(local), getListAttributes(base)];
  const changes = Object.entries(getListAttributes(remote)).filter(([key, value]) => {
    const name = key as keyof ListAttributes;
    return isSame(localValues[name], baseValues[name]) && !isSame(value, baseValues[name]);
  });
  return changes.length === 0 ? local : { ...local, ...Object.fromEntries(changes) };
}
