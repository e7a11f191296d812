import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { SignInOption } from '#contract/page/sign-in-option.ts';

/** How users can sign in, in addition to keys. */
export interface SignInOptions {
  readonly providers: readonly SignInOption[];
  /** Whether the service waits for the token that creates its first administrator. */
  readonly isFirstStart: boolean;
}

/** Reads the sign-in options of the service. Rejects if the service cannot be reached. */
export async function readSignInOptions(): Promise<SignInOptions> {
  const response = await fetch('v1/sign-in', { credentials: 'omit', cache: 'no-store', redirect: 'error' });
  const answer = tryParseJson(await response.text());
  if (!isJsonObject(answer)) return { providers: [], isFirstStart: false };
  return { providers: Array.isArray(answer.data) ? answer.data : [], isFirstStart: answer.firstStart === true };
}
