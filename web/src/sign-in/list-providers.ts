import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { SignInWay } from '#contract/page/sign-in-way.ts';

/** The identity providers that the service offers. Rejects where it cannot be reached. */
export async function listProviders(): Promise<readonly SignInWay[]> {
  const response = await fetch('v1/sign-in', { credentials: 'omit', cache: 'no-store', redirect: 'error' });
  const answer = tryParseJson(await response.text());
  return isJsonObject(answer) && Array.isArray(answer.data) ? answer.data : [];
}
