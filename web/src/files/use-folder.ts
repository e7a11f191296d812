import { useCallback, useState } from 'react';
import { useLoaded } from '../parts/use-loaded.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import type { FolderPage, StoredFiles, StoredItem } from './stored-files.ts';

interface FolderState {
  /** Undefined until the first page is there. */
  readonly items: readonly StoredItem[] | undefined;
  readonly fault: Fault | undefined;
  readonly isLoading: boolean;
  /** Undefined where nothing is left. */
  readonly more: (() => void) | undefined;
  readonly reload: () => void;
}

/** What lies in a folder, page by page. */
export function useFolder(files: StoredFiles, folder: string): FolderState {
  const first = useLoaded(useCallback((signal: AbortSignal) => files.list(folder, undefined, signal), [files, folder]));
  const [further, setFurther] = useState<{ behind: FolderPage; pages: readonly FolderPage[] }>();
  const [fault, setFault] = useState<Fault>();
  const begin = first.value;
  const pages = begin === undefined ? [] : [begin, ...(further?.behind === begin ? further.pages : [])];
  const next = pages.at(-1)?.next;
  const more = (): void => {
    if (begin === undefined) return;
    files.list(folder, next).then(
      (page) => setFurther({ behind: begin, pages: [...pages.slice(1), page] }),
      (thrown: unknown) => setFault(faultOf(thrown)),
    );
  };
  return {
    items: begin && pages.flatMap(({ items }) => items),
    fault: first.fault ?? fault,
    isLoading: first.isLoading,
    more: next === undefined ? undefined : more,
    reload: first.reload,
  };
}
