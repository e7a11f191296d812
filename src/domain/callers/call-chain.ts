import { ParleyError } from '#contract/errors/errors.ts';
import { applicationPrefix } from '../deployments/application-location.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { toBucket } from '../files/bucket.ts';
import type { Actor, Caller } from './caller.ts';

const maxDepth = 16;
const maxReturns = 3;

/**
 * Returns the path from the root through the deployment of this call. Throws `call_depth_exceeded`
 * (docs/write-an-application.md, Per-request keys).
 */
export function buildPath(deployment: Deployment, caller: Caller): readonly string[] {
  const previous = caller.chain?.path ?? [];
  if (previous.length + 1 > maxDepth) {
    throw new ParleyError(
      'call_depth_exceeded',
      `The call chain ${previous[0]} → … → ${deployment.id} is deeper than ${maxDepth}.`,
    );
  }
  if (previous.filter((id) => id === deployment.id).length > maxReturns) {
    throw new ParleyError('call_depth_exceeded', `The call chain returns to ${deployment.id} more than ${maxReturns} times.`);
  }
  return [...previous, deployment.id];
}

/**
 * Returns whether the call chain of a per-request key contains an application that another user saved. Calls of such an
 * application have the roles of the user at the root of the chain, but not the rights of this user as an owner. Applications of
 * `trustedOwner` do not count.
 */
export function hasForeignApplication({ subject, chain }: Actor, trustedOwner = subject): boolean {
  const savedIds = chain?.path.filter((id) => id.startsWith(applicationPrefix)) ?? [];
  if (savedIds.length === 0) return false;
  const buckets = [subject, trustedOwner].map(toBucket);
  return !savedIds.every((id) => buckets.includes(id.split('/')[1] ?? ''));
}
