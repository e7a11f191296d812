import { isJsonObject, tryParseJson } from '#base/json.ts';
import type { SignInWay } from '#contract/sign-in-way.ts';

/** The identity providers that the service offers; none where it does not answer. */
export async function readWays(): Promise<readonly SignInWay[]> {
  const text = await fetch('v1/sign-in', { credentials: 'omit', cache: 'no-store', redirect: 'error' })
    .then((response) => response.text())
    .catch(() => '');
  const answer = tryParseJson(text);
  return isJsonObject(answer) && Array.isArray(answer.data) ? answer.data : [];
}
