import { maxPathBytes } from './resource-location.ts';

export interface FolderQuery {
  /** Value of `next` from the previous page. Undefined starts at the first item. */
  readonly after: string | undefined;
  readonly limit: number;
  /** Whether to return the items in subfolders instead of the subfolders. */
  readonly isRecursive: boolean;
}

/** An item with its path, without the bucket. */
interface ListedItem {
  readonly path: string;
}

/** An item, or a folder as the common prefix of paths, with a trailing slash. */
type FolderItem<Item> = { readonly item: Item } | { readonly folder: string };

export interface FolderPage<Item> {
  readonly items: readonly FolderItem<Item>[];
  /** Path of the last inspected item. Undefined if no items remain. */
  readonly next: string | undefined;
}

/**
 * Returns the items below a prefix and after a path, ordered by the UTF-8 bytes of the paths. `next` is the value of `after`
 * for the next page. It is undefined after the last page.
 */
export type ListPaths<Item> = (query: {
  readonly prefix: string;
  readonly after: string | undefined;
  readonly limit: number;
}) => Promise<{ readonly items: readonly Item[]; readonly next: string | undefined }>;

const queryLimit = 100;
/** Bounds the cost of a page with many files in subfolders. The page may then be shorter than the limit. */
const maxQueries = 50;
const lastCharacter = '\u{10FFFF}';

/** Returns one page of a folder, ordered by path. */
export async function listFolder<Item extends ListedItem>(
  list: ListPaths<Item>,
  query: FolderQuery & { readonly prefix: string },
): Promise<FolderPage<Item>> {
  const { prefix, limit, isRecursive } = query;
  const items: FolderItem<Item>[] = [];
  let { after } = query;
  let currentFolder: string | undefined;
  for (let queries = 0; queries < maxQueries && items.length < limit; queries += 1) {
    const pageLimit = Math.min(limit - items.length, queryLimit);
    const page = await list({ prefix, after: toPosition(after), limit: pageLimit });
    for (const item of page.items) {
      const folder = isRecursive ? undefined : findFolder(item, prefix);
      if (folder === undefined) items.push({ item });
      else if (folder !== currentFolder) items.push({ folder });
      currentFolder = folder;
    }
    if (page.next === undefined) return { items, next: undefined };
    after = currentFolder ?? page.next;
  }
  return { items, next: after };
}

/** If the last inspected item is a folder, returns the greatest path that can be in it. */
function toPosition(after: string | undefined): string | undefined {
  if (after === undefined || !after.endsWith('/')) return after;
  return after + lastCharacter.repeat(Math.ceil(Math.max(maxPathBytes - Buffer.byteLength(after), 0) / 4));
}

/** Returns the folder directly below the prefix that contains the item, or undefined if the item is at the prefix itself. */
function findFolder({ path }: ListedItem, prefix: string): string | undefined {
  const end = path.indexOf('/', prefix.length);
  return end === -1 ? undefined : path.slice(0, end + 1);
}
