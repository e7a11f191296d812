import type { Head } from '../conversation/database.ts';

/** Which conversations are listed: of a tag, the archived ones, or all that are not archived. */
export type Shelf = { readonly tag: string } | 'archived' | 'all';

/** All tags of conversations, in the order of the alphabet. */
export function tagsOf(heads: readonly Head[]): readonly string[] {
  return [...new Set(heads.flatMap(({ tags = [] }) => tags))].sort((one, other) => one.localeCompare(other));
}

/** The heads that are listed; a search looks through the archived ones too. */
export function onShelf(heads: readonly Head[], shelf: Shelf, isSearch: boolean): readonly Head[] {
  if (shelf === 'archived') return heads.filter(({ archived }) => archived === true);
  return heads.filter(
    ({ archived = false, tags = [] }) => (isSearch || !archived) && (shelf === 'all' || tags.includes(shelf.tag)),
  );
}
