import { useEffect, useState, useSyncExternalStore } from 'react';
import type { SignInWay } from '#contract/page/sign-in-way.ts';
import { Reachability } from '../service/reachability.ts';
import { listProviders } from './list-providers.ts';

interface ProvidersState {
  /** Undefined until they are known. */
  readonly providers: readonly SignInWay[] | undefined;
  /** The service cannot be reached, so that nobody can sign in. */
  readonly isUnreachable: boolean;
}

/** The identity providers that the service offers; asked for again when it can be reached again. */
export function useProviders(): ProvidersState {
  const [reachability] = useState(() => new Reachability());
  const [providers, setProviders] = useState<readonly SignInWay[]>();
  const isUnreachable = useSyncExternalStore(reachability.subscribe, reachability.isUnreachable);
  useEffect(() => {
    if (isUnreachable) return;
    listProviders().then(setProviders, () => {
      setProviders([]);
      reachability.check();
    });
  }, [isUnreachable, reachability]);
  return { providers, isUnreachable };
}
