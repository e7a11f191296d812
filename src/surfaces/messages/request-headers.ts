import type { IncomingHttpHeaders } from 'node:http';
import { ParleyError } from '#contract/errors.ts';

const cachePolicies: readonly unknown[] = [undefined, 'availability-priority', 'cache-priority'];
const policyHeader = 'x-core-cache-policy';

/** Header fields of the dialect that an upstream of it is sent: its version, under whichever name it came, and its betas. */
export function toNativeHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const version = textOf(headers['anthropic-version']) ?? textOf(headers['msgapi-version']);
  const betas = textOf(headers['anthropic-beta']);
  return { ...(version && { 'anthropic-version': version }), ...(betas && { 'anthropic-beta': betas }) };
}

/** Whether a conversation stays with one upstream, which may have cached its prompt (`X-CORE-CACHE-POLICY`, docs/messages.md). */
export function prefersCache(headers: IncomingHttpHeaders): boolean {
  return headers[policyHeader] === 'cache-priority';
}

/** Throws `invalid_request` for a cache policy that is none. */
export function checkCachePolicy(headers: IncomingHttpHeaders): void {
  if (cachePolicies.includes(headers[policyHeader])) return;
  throw new ParleyError('invalid_request', 'X-CORE-CACHE-POLICY must be availability-priority or cache-priority.');
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}
