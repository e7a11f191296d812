import { useCallback, useEffect, useState } from 'react';
import { type Fault, faultOf } from '../service/fault.ts';

interface Loaded<Value> {
  /** Of the last time that went well; stays while another is on its way. */
  readonly value: Value | undefined;
  readonly fault: Fault | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** What `load` gives, asked anew whenever `load` is another, and on demand; an answer that comes too late is left out. */
export function useLoaded<Value>(load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<Omit<Loaded<Value>, 'reload'>>({ value: undefined, fault: undefined, isLoading: true });
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round asks anew
  useEffect(() => {
    const leaving = new AbortController();
    const settle = (next: { value?: Value; fault?: Fault }): void => {
      if (!leaving.signal.aborted) setState((now) => ({ value: now.value, fault: undefined, ...next, isLoading: false }));
    };
    setState((now) => ({ ...now, isLoading: true }));
    load(leaving.signal).then(
      (value) => settle({ value }),
      (thrown: unknown) => settle({ fault: faultOf(thrown) }),
    );
    return () => leaving.abort();
  }, [load, round]);
  const reload = useCallback(() => setRound((now) => now + 1), []);
  return { ...state, reload };
}
