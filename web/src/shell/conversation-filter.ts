import type { ConversationSummary } from '../conversation/database.ts';

/** The listed chats: those with a tag, archived ones, or all that are not archived. */
export type ConversationFilter = { readonly tag: string } | 'archived' | 'all';

/** Lists all tags of chats and the other names once, in alphabetical order. */
export function listTags(summaries: readonly ConversationSummary[], otherNames: readonly string[]): readonly string[] {
  const names = new Set([...otherNames, ...summaries.flatMap(({ tags = [] }) => tags)]);
  return [...names].sort((left, right) => left.localeCompare(right));
}

/** Filters the listed chats. A search includes archived chats and the chats of all projects. */
export function filterConversations(
  summaries: readonly ConversationSummary[],
  filter: ConversationFilter,
  isSearch: boolean,
): readonly ConversationSummary[] {
  if (filter === 'archived') return summaries.filter(({ archived }) => archived === true);
  return summaries.filter(
    ({ archived = false, tags = [] }) => isSearch || (!archived && (filter === 'all' || tags.includes(filter.tag))),
  );
}
