import type { ConversationSummary } from '../conversation/database.ts';

/** Which conversations are listed: of a tag, the archived ones, or all that are not archived. */
export type ConversationFilter = { readonly tag: string } | 'archived' | 'all';

/** All tags of conversations, in the order of the alphabet. */
export function listTags(summaries: readonly ConversationSummary[]): readonly string[] {
  return [...new Set(summaries.flatMap(({ tags = [] }) => tags))].sort((left, right) => left.localeCompare(right));
}

/** The heads that are listed; a search looks through the archived ones too. */
export function filterConversations(
  summaries: readonly ConversationSummary[],
  filter: ConversationFilter,
  isSearch: boolean,
): readonly ConversationSummary[] {
  if (filter === 'archived') return summaries.filter(({ archived }) => archived === true);
  return summaries.filter(
    ({ archived = false, tags = [] }) => (isSearch || !archived) && (filter === 'all' || tags.includes(filter.tag)),
  );
}
