import type { Conversation } from './conversation.ts';

/** Attributes of a chat in the list. */
export type Arrangement = Pick<Conversation, 'title' | 'pinned' | 'archived' | 'tags'>;

export function getArrangement({ title, pinned = false, archived = false, tags = [] }: Arrangement): Required<Arrangement> {
  return { title, pinned, archived, tags };
}

export function isSameArrangement(left: Arrangement, right: Arrangement): boolean {
  return JSON.stringify(getArrangement(left)) === JSON.stringify(getArrangement(right));
}

/** Merges remote changes since the common `base`. Local changes take precedence. */
export function mergeArrangement(local: Conversation, remote: Arrangement, base: Arrangement | undefined): Conversation {
  if (base === undefined) return local;
  const [localEntries, remoteEntries, baseEntries] = [local, remote, base].map((item) => Object.entries(getArrangement(item)));
  const changedRemotely = remoteEntries?.filter(([, value], index) => {
    const baseValue = JSON.stringify(baseEntries?.[index]?.[1]);
    return JSON.stringify(localEntries?.[index]?.[1]) === baseValue && JSON.stringify(value) !== baseValue;
  });
  return changedRemotely === undefined || changedRemotely.length === 0
    ? local
    : { ...local, ...Object.fromEntries(changedRemotely) };
}
