import { useEffect, useState, useSyncExternalStore } from 'react';
import { Reachability } from '../service/reachability.ts';
import { readSignInOptions, type SignInOptions } from './read-sign-in-options.ts';

interface SignInState {
  /** Undefined until they are loaded. */
  readonly options: SignInOptions | undefined;
  /** Whether the service cannot be reached, so that the user cannot sign in. */
  readonly isUnreachable: boolean;
}

/** Sign-in options of the service, loaded again when the service becomes reachable. */
export function useSignInOptions(): SignInState {
  const [reachability] = useState(() => new Reachability());
  const [options, setOptions] = useState<SignInOptions>();
  const isUnreachable = useSyncExternalStore(reachability.subscribe, reachability.isUnreachable);
  useEffect(() => {
    if (isUnreachable) return;
    readSignInOptions().then(setOptions, () => {
      setOptions({ providers: [], isFirstStart: false });
      reachability.check();
    });
  }, [isUnreachable, reachability]);
  return { options, isUnreachable };
}
