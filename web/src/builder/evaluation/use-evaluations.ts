import { useCallback, useEffect, useState } from 'react';
import { usePage } from '../../page/page.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { type Fault, faultOf } from '../../service/fault.ts';
import type { OwnApplication } from '../applications.ts';
import { listVersions } from '../versions/versions.ts';
import { cancelEvaluation, type Evaluation, listCases, listEvaluations, type SavedCase, startEvaluation } from './evaluations.ts';

/** The cases of an application, and what evaluations came to. */
export interface Evaluating {
  readonly cases: readonly SavedCase[];
  /** The newest first. */
  readonly evaluations: readonly Evaluation[];
  /** Number of the version in force. */
  readonly version: number | undefined;
  readonly running: Evaluation | undefined;
  readonly fault: Fault | undefined;
  readonly isLoading: boolean;
  readonly isLoaded: boolean;
  /** Whether its section is open. */
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
  /** Has all of it loaded, which nobody pays for who does not look. */
  readonly want: () => void;
  /** Does something, and loads all anew. */
  readonly act: (work: () => Promise<void>) => Promise<boolean>;
  readonly start: (version?: number) => void;
  readonly cancel: () => void;
}

const lookMs = 700;
const nothing = { cases: [], evaluations: [], version: undefined } as const;

export function useEvaluations(stored: OwnApplication | undefined): Evaluating {
  const { service } = usePage();
  const [isWanted, setIsWanted] = useState(false);
  const [isOpen, setIsOpen] = useState(false);
  const [refusal, setRefusal] = useState<Fault>();
  const id = isWanted ? stored?.id : undefined;
  const etag = stored?.etag;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change makes another version
  const load = useCallback(async () => {
    if (id === undefined) return undefined;
    const [cases, evaluations, [inForce]] = await Promise.all([
      listCases(service, id),
      listEvaluations(service, id),
      listVersions(service, id),
    ]);
    return { cases, evaluations, version: inForce?.version };
  }, [service, id, etag]);
  const { value, fault, isLoading, reload } = useLoaded(load);
  const running = value?.evaluations.find((each) => each.isRunning);
  useEffect(() => {
    if (running === undefined || isLoading) return undefined;
    const timer = setTimeout(reload, lookMs);
    return () => clearTimeout(timer);
  }, [running, isLoading, reload]);
  const act = useCallback(
    (work: () => Promise<void>): Promise<boolean> => {
      setRefusal(undefined);
      return work().then(
        () => {
          reload();
          return true;
        },
        (thrown: unknown) => {
          setRefusal(faultOf(thrown));
          return false;
        },
      );
    },
    [reload],
  );
  const want = useCallback(() => setIsWanted(true), []);
  const setOpen = useCallback((next: boolean) => {
    setIsOpen(next);
    if (next) setIsWanted(true);
  }, []);
  const start = (version?: number): void => {
    const to = stored?.id;
    if (to !== undefined) void act(() => startEvaluation(service, to, version === undefined ? {} : { version }));
  };
  const cancel = (): void => {
    if (running !== undefined) void act(() => cancelEvaluation(service, running.id));
  };
  const shown = value ?? nothing;
  return {
    ...shown,
    running,
    fault: refusal ?? fault,
    isLoading,
    isLoaded: value !== undefined,
    isOpen,
    setOpen,
    want,
    act,
    start,
    cancel,
  };
}

/** The last evaluation of a version that came to its end. */
export function lastOf({ evaluations }: Pick<Evaluating, 'evaluations'>, version: number | undefined): Evaluation | undefined {
  return evaluations.find((each) => each.version === version && each.status === 'completed');
}
