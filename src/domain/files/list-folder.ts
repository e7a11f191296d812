import { maxPathBytes } from './resource-location.ts';

export interface FolderQuery {
  /** `next` of the page before; undefined: from the first. */
  readonly after: string | undefined;
  readonly limit: number;
  /** What lies in folders below too, in place of these folders. */
  readonly isRecursive: boolean;
}

/** What stands in a listing by its path, without its bucket. */
interface ListedItem {
  readonly path: string;
}

/** A folder is what paths have in common; its path ends with a slash. */
type FolderItem<Item> = { readonly item: Item } | { readonly folder: string };

export interface FolderPage<Item> {
  readonly items: readonly FolderItem<Item>[];
  /** The path of the last item looked at; undefined if nothing is left. */
  readonly next: string | undefined;
}

/** What lies below a prefix behind a path, ordered by the bytes of the paths in UTF-8. `next` is `after` of the next page; undefined after the last. */
export type ListPaths<Item> = (query: {
  readonly prefix: string;
  readonly after: string | undefined;
  readonly limit: number;
}) => Promise<{ readonly items: readonly Item[]; readonly next: string | undefined }>;

const queryLimit = 100;
/** A page costs no more than that, however many files lie in the folders below; it is then shorter than asked for. */
const maxQueries = 50;
const lastCharacter = '\u{10FFFF}';

/** One page of a folder, in the order of the paths. */
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

/** What was looked at last may be a folder: the next item then lies behind the last path that can be in it. */
function toPosition(after: string | undefined): string | undefined {
  if (after === undefined || !after.endsWith('/')) return after;
  return after + lastCharacter.repeat(Math.ceil(Math.max(maxPathBytes - Buffer.byteLength(after), 0) / 4));
}

/** The folder right below the prefix that something lies in; undefined if it lies at the prefix itself. */
function findFolder({ path }: ListedItem, prefix: string): string | undefined {
  const end = path.indexOf('/', prefix.length);
  return end === -1 ? undefined : path.slice(0, end + 1);
}
