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
  return JSON.stringify(getListAttributes(left)) === JSON.stringify(getListAttributes(right));
}

/** Merges remote changes since the common `base`. Local changes take precedence. */
export function mergeListAttributes(local: Conversation, remote: ListAttributes, base: ListAttributes | undefined): Conversation {
  if (base === undefined) return local;
  const [localEntries, remoteEntries, baseEntries] = [local, remote, base].map((item) => Object.entries(getListAttributes(item)));
  const changedRemotely = remoteEntries?.filter(([, value], index) => {
    const baseValue = JSON.stringify(baseEntries?.[index]?.[1]);
    return JSON.stringify(localEntries?.[index]?.[1]) === baseValue && JSON.stringify(value) !== baseValue;
  });
  return changedRemotely === undefined || changedRemotely.length === 0
    ? local
    : { ...local, ...Object.fromEntries(changedRemotely) };
}
