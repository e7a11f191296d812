import type { FileFacts, FileIndex, IndexedFile } from './file-index.ts';
import { maxPathBytes } from './file-references.ts';

export interface FolderQuery {
  readonly bucket: string;
  /** Empty for the whole bucket, else with a slash at its end. */
  readonly folder: string;
  /** `next` of the page before; undefined: from the first. */
  readonly after: string | undefined;
  readonly limit: number;
  /** Files of folders below too, in place of these folders. */
  readonly isRecursive: boolean;
}

/** A folder is what paths of files have in common; its path ends with a slash. */
export type FolderItem = { readonly file: FileFacts } | { readonly folder: string };

export interface FolderPage {
  readonly items: readonly FolderItem[];
  /** The path of the last item looked at; undefined if nothing is left. */
  readonly next: string | undefined;
}

const queryLimit = 100;
/** A page costs no more than that, however many files lie in the folders below; it is then shorter than asked for. */
const maxQueries = 50;
const lastCharacter = '\u{10FFFF}';

/** One page of a folder, in the order of the index. */
export async function listFolder(index: FileIndex, query: FolderQuery): Promise<FolderPage> {
  const { bucket, folder: prefix, limit, isRecursive } = query;
  const items: FolderItem[] = [];
  let { after } = query;
  let below: string | undefined;
  for (let queries = 0; queries < maxQueries && items.length < limit; queries += 1) {
    const most = Math.min(limit - items.length, queryLimit);
    const page = await index.list({ bucket, prefix, after: toPosition(after), limit: most });
    for (const file of page.items) {
      const folder = isRecursive ? undefined : folderOf(file, prefix);
      if (folder === undefined) items.push({ file });
      else if (folder !== below) items.push({ folder });
      below = folder;
    }
    if (page.next === undefined) return { items, next: undefined };
    after = below ?? page.next;
  }
  return { items, next: after };
}

/** What was looked at last may be a folder: the next item then lies behind the last path that can be in it. */
function toPosition(after: string | undefined): string | undefined {
  if (after === undefined || !after.endsWith('/')) return after;
  return after + lastCharacter.repeat(Math.ceil(Math.max(maxPathBytes - Buffer.byteLength(after), 0) / 4));
}

/** The folder right below the prefix that a file lies in; undefined if it lies at the prefix itself. */
function folderOf({ path }: IndexedFile, prefix: string): string | undefined {
  const end = path.indexOf('/', prefix.length);
  return end === -1 ? undefined : path.slice(0, end + 1);
}
