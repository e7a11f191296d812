import { useCallback, useState } from 'react';
import type { ErrorDetails } from '../service/service-error.ts';
import { TextButton } from './icon.tsx';
import { useAction, useLoaded } from './use-loaded.ts';

interface Pages<Page> {
  /** Pages so far. Empty until the first one is loaded. */
  readonly pages: readonly Page[];
  readonly error: ErrorDetails | undefined;
  readonly isLoading: boolean;
  /** Undefined if there are no more pages. */
  readonly loadMore: (() => void) | undefined;
  /** Loads the first page again, and drops the later pages. */
  readonly reload: () => void;
}

/** Loads a list page by page. `load` loads the page with a token, or the first page without one. */
export function usePages<Page extends { readonly next: string | undefined }>(
  load: (token: string | undefined, signal?: AbortSignal) => Promise<Page>,
): Pages<Page> {
  const {
    value: first,
    error,
    isLoading,
    reload,
  } = useLoaded(useCallback((signal: AbortSignal) => load(undefined, signal), [load]));
  const [later, setLater] = useState<{ readonly after: Page; readonly pages: readonly Page[] }>();
  const { error: loadMoreError, run } = useAction();
  const pages = first === undefined ? [] : [first, ...(later?.after === first ? later.pages : [])];
  const token = pages.at(-1)?.next;
  const loadMore = (): void => {
    if (first === undefined) return;
    void run(() => load(token).then((page) => setLater({ after: first, pages: [...pages.slice(1), page] })));
  };
  return { pages, error: error ?? loadMoreError, isLoading, loadMore: token === undefined ? undefined : loadMore, reload };
}

/** A button that loads the next page. Renders nothing after the last page. */
export function MoreButton({ loadMore, label }: { readonly loadMore: (() => void) | undefined; readonly label: string }) {
  if (loadMore === undefined) return null;
  return (
    <div>
      <TextButton onClick={loadMore}>{label}</TextButton>
    </div>
  );
}
