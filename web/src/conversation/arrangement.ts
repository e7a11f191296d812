import type { Conversation } from './conversation.ts';

/** How a conversation stands in the list. */
export type Arrangement = Pick<Conversation, 'title' | 'pinned' | 'archived' | 'tags'>;

export function arrangementOf({ title, pinned = false, archived = false, tags = [] }: Arrangement): Required<Arrangement> {
  return { title, pinned, archived, tags };
}

export function isSameArrangement(one: Arrangement, other: Arrangement): boolean {
  return JSON.stringify(arrangementOf(one)) === JSON.stringify(arrangementOf(other));
}

/** With what another has changed since `base`, what both had; an own change stays. */
export function withArrangementOf(own: Conversation, other: Arrangement, base: Arrangement | undefined): Conversation {
  if (base === undefined) return own;
  const [ours, theirs, before] = [own, other, base].map((each) => Object.entries(arrangementOf(each)));
  const taken = theirs?.filter(([, value], at) => {
    const was = JSON.stringify(before?.[at]?.[1]);
    return JSON.stringify(ours?.[at]?.[1]) === was && JSON.stringify(value) !== was;
  });
  return taken === undefined || taken.length === 0 ? own : { ...own, ...Object.fromEntries(taken) };
}
