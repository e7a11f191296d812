import { useCallback, useEffect, useState } from 'react';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';

interface Loaded<Value> {
  /** Last loaded value. It stays during a reload. */
  readonly value: Value | undefined;
  readonly error: ErrorDetails | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface Action {
  /** Error of the last action, if it failed. */
  readonly error: ErrorDetails | undefined;
  readonly isRunning: boolean;
  /** Runs an action. Resolves with whether it succeeded. */
  readonly run: (action: () => Promise<unknown>) => Promise<boolean>;
}

/** Runs actions of the user, and keeps the error of the last one until the next one starts. */
export function useAction(): Action {
  const [state, setState] = useState<Omit<Action, 'run'>>({ error: undefined, isRunning: false });
  const run = useCallback(async (action: () => Promise<unknown>): Promise<boolean> => {
    setState({ error: undefined, isRunning: true });
    const error = await action().then(() => undefined, toErrorDetails);
    setState({ error, isRunning: false });
    return error === undefined;
  }, []);
  return { ...state, run };
}

/** Calls `load` when it changes, on demand, and after a lost connection is back. Ignores outdated results. */
export function useLoaded<Value>(load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<Omit<Loaded<Value>, 'reload'>>({ value: undefined, error: undefined, isLoading: true });
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt loads again
  useEffect(() => {
    const controller = new AbortController();
    const settle = (next: { value?: Value; error?: ErrorDetails }): void => {
      if (!controller.signal.aborted) setState(({ value }) => ({ value, error: undefined, ...next, isLoading: false }));
    };
    setState((current) => ({ ...current, isLoading: true }));
    load(controller.signal).then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error: toErrorDetails(error) }),
    );
    return () => controller.abort();
  }, [load, attempt]);
  const reload = useCallback(() => setAttempt((current) => current + 1), []);
  const isDisconnected = state.error?.code === 'connection_lost';
  useEffect(() => {
    if (isDisconnected) addEventListener('online', reload);
    return () => removeEventListener('online', reload);
  }, [isDisconnected, reload]);
  return { ...state, reload };
}
