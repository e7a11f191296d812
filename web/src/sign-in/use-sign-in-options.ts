import { useEffect, useState, useSyncExternalStore } from 'react';
import type { SignInOption } from '#contract/page/sign-in-option.ts';
import { Reachability } from '../service/reachability.ts';
import { listProviders } from './list-providers.ts';

interface ProvidersState {
  /** Undefined until they are loaded. */
  readonly providers: readonly SignInOption[] | undefined;
  /** Whether the service cannot be reached, so that the user cannot sign in. */
  readonly isUnreachable: boolean;
}

/** Identity providers of the service, loaded again when the service becomes reachable. */
export function useProviders(): ProvidersState {
  const [reachability] = useState(() => new Reachability());
  const [providers, setProviders] = useState<readonly SignInOption[]>();
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
