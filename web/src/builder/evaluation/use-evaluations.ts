import { useCallback, useEffect, useState } from 'react';
import { useLoaded } from '../../parts/use-loaded.ts';
import { type ErrorDetails, toErrorDetails } from '../../service/service-error.ts';
import { usePage } from '../../shell/page.tsx';
import { listVersions, type OwnApplication } from '../applications.ts';
import { cancelEvaluation, type Evaluation, listCases, listEvaluations, startEvaluation, type TestCase } from './evaluations.ts';

/** Cases and evaluations of an application. */
export interface EvaluationState {
  readonly cases: readonly TestCase[];
  /** The newest first. */
  readonly evaluations: readonly Evaluation[];
  /** Number of the current version. */
  readonly version: number | undefined;
  readonly running: Evaluation | undefined;
  readonly error: ErrorDetails | undefined;
  readonly isLoading: boolean;
  readonly isLoaded: boolean;
  /** Whether the evaluation section is open. */
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
  /** Starts loading. Nothing is loaded until a section needs the data and calls this. */
  readonly requestLoad: () => void;
  /** Runs an action, and reloads the cases and evaluations if it succeeds. Resolves with whether it succeeded. */
  readonly runAction: (action: () => Promise<void>) => Promise<boolean>;
  readonly start: (version?: number) => void;
  readonly cancel: () => void;
}

const pollIntervalMs = 700;
const emptyState = { cases: [], evaluations: [], version: undefined } as const;

export function useEvaluations(stored: OwnApplication | undefined): EvaluationState {
  const { service } = usePage();
  const [isRequested, setIsRequested] = useState(false);
  const [isOpen, setIsOpen] = useState(false);
  const [actionError, setActionError] = useState<ErrorDetails>();
  const id = isRequested ? stored?.id : undefined;
  const etag = stored?.etag;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change creates another version
  const load = useCallback(async () => {
    if (id === undefined) return undefined;
    const [cases, evaluations, [currentVersion]] = await Promise.all([
      listCases(service, id),
      listEvaluations(service, id),
      listVersions(service, id),
    ]);
    return { cases, evaluations, version: currentVersion?.version };
  }, [service, id, etag]);
  const { value, error, isLoading, reload } = useLoaded(load);
  const running = value?.evaluations.find((evaluation) => evaluation.isRunning);
  useEffect(() => {
    if (running === undefined || isLoading) return undefined;
    const timer = setTimeout(reload, pollIntervalMs);
    return () => clearTimeout(timer);
  }, [running, isLoading, reload]);
  const runAction = useCallback(
    (action: () => Promise<void>): Promise<boolean> => {
      setActionError(undefined);
      return action().then(
        () => {
          reload();
          return true;
        },
        (error: unknown) => {
          setActionError(toErrorDetails(error));
          return false;
        },
      );
    },
    [reload],
  );
  const requestLoad = useCallback(() => setIsRequested(true), []);
  const setOpen = useCallback((next: boolean) => {
    setIsOpen(next);
    if (next) setIsRequested(true);
  }, []);
  const start = (version?: number): void => {
    const applicationId = stored?.id;
    if (applicationId !== undefined)
      void runAction(() => startEvaluation(service, applicationId, version === undefined ? {} : { version }));
  };
  const cancel = (): void => {
    if (running !== undefined) void runAction(() => cancelEvaluation(service, running.id));
  };
  const state = value ?? emptyState;
  return {
    ...state,
    running,
    error: actionError ?? error,
    isLoading,
    isLoaded: value !== undefined,
    isOpen,
    setOpen,
    requestLoad,
    runAction,
    start,
    cancel,
  };
}

/** Returns the newest completed evaluation of a version. */
export function findLastEvaluation(
  { evaluations }: Pick<EvaluationState, 'evaluations'>,
  version: number | undefined,
): Evaluation | undefined {
  return evaluations.find((evaluation) => evaluation.version === version && evaluation.status === 'completed');
}
