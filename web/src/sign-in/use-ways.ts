import { useEffect, useState, useSyncExternalStore } from 'react';
import type { SignInWay } from '#contract/page/sign-in-way.ts';
import { Reachability } from '../service/reachability.ts';
import { readWays } from './ways.ts';

interface KnownWays {
  /** Undefined until they are known. */
  readonly ways: readonly SignInWay[] | undefined;
  /** The service cannot be reached, so that nobody can sign in. */
  readonly isAway: boolean;
}

/** The identity providers that the service offers; asked for again when it can be reached again. */
export function useWays(): KnownWays {
  const [reach] = useState(() => new Reachability());
  const [ways, setWays] = useState<readonly SignInWay[]>();
  const isAway = useSyncExternalStore(reach.subscribe, reach.isAway);
  useEffect(() => {
    if (isAway) return;
    readWays().then(setWays, () => {
      setWays([]);
      reach.doubt();
    });
  }, [isAway, reach]);
  return { ways, isAway };
}
