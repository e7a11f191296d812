import { ParleyError } from '#contract/errors/errors.ts';
import { applicationPrefix } from '../deployments/application-location.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { toBucket } from '../files/bucket.ts';
import type { Actor, Caller } from './caller.ts';

const maxDepth = 16;
const maxReturns = 3;

/** The path from the root through the deployment that is called now. Throws `call_depth_exceeded` (docs/write-an-application.md, Per-request keys). */
export function buildPath(deployment: Deployment, caller: Caller): readonly string[] {
  const previous = caller.chain?.path ?? [];
  if (previous.length + 1 > maxDepth) {
    throw new ParleyError(
      'call_depth_exceeded',
      `The chain of calls ${previous[0]} → … → ${deployment.id} is deeper than ${maxDepth}.`,
    );
  }
  if (previous.filter((id) => id === deployment.id).length > maxReturns) {
    throw new ParleyError(
      'call_depth_exceeded',
      `The chain of calls comes back to ${deployment.id} more than ${maxReturns} times.`,
    );
  }
  return [...previous, deployment.id];
}

/**
 * Whether an application that another user saved stands on the way of a per-request key: it acts with what the roles of its
 * user open, and not with what that user has as an owner.
 */
export function isLedByAnother({ subject, chain }: Actor): boolean {
  const savedIds = chain?.path.filter((id) => id.startsWith(applicationPrefix)) ?? [];
  return savedIds.length > 0 && !savedIds.every((id) => id.startsWith(`${applicationPrefix}${toBucket(subject)}/`));
}
