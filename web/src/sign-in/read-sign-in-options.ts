import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { SignInOption } from '#contract/page/sign-in-option.ts';

/** Lists the identity providers of the service. Rejects if the service cannot be reached. */
export async function listProviders(): Promise<readonly SignInOption[]> {
  const response = await fetch('v1/sign-in', { credentials: 'omit', cache: 'no-store', redirect: 'error' });
  const answer = tryParseJson(await response.text());
  return isJsonObject(answer) && Array.isArray(answer.data) ? answer.data : [];
}
