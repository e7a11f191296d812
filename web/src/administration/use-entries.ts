import { useCallback, useState } from 'react';
import { useLoaded } from '../parts/use-loaded.ts';
import type { ErrorDetails } from '../service/service-error.ts';
import { usePage } from '../shell/page.tsx';
import { type Entry, listEntries } from './entries.ts';

interface Entries {
  /** Undefined until the first page is loaded. */
  readonly entries: readonly Entry[] | undefined;
  readonly error: ErrorDetails | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** Loads all entries of a kind, and renders after each page. */
export function useEntries(kind: string): Entries {
  const { service } = usePage();
  const [entries, setEntries] = useState<readonly Entry[]>();
  const load = useCallback(
    (signal: AbortSignal) => listEntries(service, kind, { signal, onPage: (items) => signal.aborted || setEntries(items) }),
    [service, kind],
  );
  const { error, isLoading, reload } = useLoaded(load);
  return { entries, error, isLoading, reload };
}
