import { useEffect, useRef, useState } from 'react';
import { type Fault, faultOf } from '../service/fault.ts';
import type { TriedTool } from './tool-trial.ts';

export interface Trial {
  readonly isRunning: boolean;
  readonly tried: TriedTool | undefined;
  readonly fault: Fault | undefined;
  readonly run: (work: (signal: AbortSignal) => Promise<TriedTool>) => void;
  readonly stop: () => void;
}

/** One run at a time; leaving ends it. */
export function useTrial(): Trial {
  const [isRunning, setIsRunning] = useState(false);
  const [told, setTold] = useState<Pick<Trial, 'tried' | 'fault'>>({ tried: undefined, fault: undefined });
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const run: Trial['run'] = (work) => {
    leaving.current?.abort();
    const controller = new AbortController();
    leaving.current = controller;
    const tell = (next: typeof told): void => {
      if (controller.signal.aborted) return;
      setTold(next);
      setIsRunning(false);
    };
    setIsRunning(true);
    setTold({ tried: undefined, fault: undefined });
    work(controller.signal).then(
      (tried) => tell({ tried, fault: undefined }),
      (thrown: unknown) => tell({ tried: undefined, fault: faultOf(thrown) }),
    );
  };
  const stop = (): void => {
    leaving.current?.abort();
    setIsRunning(false);
  };
  return { ...told, isRunning, run, stop };
}
