import { useCallback, useEffect, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
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
  const [state, setState] = useState<Omit<Entries, 'reload'>>({ entries: undefined, error: undefined, isLoading: true });
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt loads again
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const settle = (next: Partial<Entries>): void => {
      if (!signal.aborted) setState((now) => ({ ...now, ...next }));
    };
    settle({ isLoading: true, error: undefined });
    const onPage = (entries: readonly Entry[]): void => settle({ entries });
    listEntries(service, kind, { signal, onPage }).then(
      (entries) => settle({ entries, isLoading: false }),
      (error: unknown) => settle({ error: toErrorDetails(error), isLoading: false }),
    );
    return () => controller.abort();
  }, [service, kind, attempt]);
  const reload = useCallback(() => setAttempt((now) => now + 1), []);
  return { ...state, reload };
}
