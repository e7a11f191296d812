import { useEffect, useState } from 'react';
import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { SignInOption } from '#contract/page/sign-in-option.ts';
import { Reachability, useIsUnreachable } from '../service/reachability.ts';
import { isGatewayError } from '../service/service-error.ts';

/** Sign-in options in addition to keys. */
interface SignInOptions {
  readonly providers: readonly SignInOption[];
  /** Whether the service waits for the token that creates its first administrator. */
  readonly isFirstStart: boolean;
}

/** Reads the sign-in options of the service. Rejects if the service cannot be reached. */
export async function readSignInOptions(): Promise<SignInOptions> {
  const response = await fetch('v1/sign-in', { credentials: 'omit', cache: 'no-store', redirect: 'error' });
  if (isGatewayError(response.status)) throw new Error(`A proxy responded with ${response.status}`);
  const answer = tryParseJson(await response.text());
  if (!isJsonObject(answer)) return { providers: [], isFirstStart: false };
  return { providers: Array.isArray(answer.data) ? answer.data : [], isFirstStart: answer.firstStart === true };
}

interface SignInState {
  /** Undefined until they are loaded. */
  readonly options: SignInOptions | undefined;
  /** Whether the service cannot be reached, so that the user cannot sign in. */
  readonly isUnreachable: boolean;
}

/** Loads the sign-in options of the service, and loads them again when the service becomes reachable. */
export function useSignInOptions(): SignInState {
  const [reachability] = useState(() => new Reachability());
  const [options, setOptions] = useState<SignInOptions>();
  const isUnreachable = useIsUnreachable(reachability);
  useEffect(() => {
    if (isUnreachable) return;
    readSignInOptions().then(setOptions, () => {
      setOptions({ providers: [], isFirstStart: false });
      reachability.check();
    });
  }, [isUnreachable, reachability]);
  return { options, isUnreachable };
}
