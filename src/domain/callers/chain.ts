import { ParleyError } from '#contract/errors/errors.ts';
import { madeByUsers } from '../deployments/application-place.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { bucketOf } from '../files/bucket.ts';
import type { Actor, Caller } from './caller.ts';

const deepest = 16;
const mostReturns = 3;

/** The path from the root through the deployment that is called now. Throws `call_depth_exceeded` (docs/write-an-application.md, Per-request keys). */
export function pathTo(deployment: Deployment, caller: Caller): readonly string[] {
  const before = caller.chain?.path ?? [];
  if (before.length + 1 > deepest) {
    throw new ParleyError(
      'call_depth_exceeded',
      `The chain of calls ${before[0]} → … → ${deployment.id} is deeper than ${deepest}.`,
    );
  }
  if (before.filter((id) => id === deployment.id).length > mostReturns) {
    throw new ParleyError(
      'call_depth_exceeded',
      `The chain of calls comes back to ${deployment.id} more than ${mostReturns} times.`,
    );
  }
  return [...before, deployment.id];
}

/**
 * Whether an application that another user saved stands on the way of a per-request key: it acts with what the roles of its
 * user open, and not with what that user has as an owner.
 */
export function isLedByAnother({ subject, chain }: Actor): boolean {
  const saved = chain?.path.filter((id) => id.startsWith(madeByUsers)) ?? [];
  return saved.length > 0 && !saved.every((id) => id.startsWith(`${madeByUsers}${bucketOf(subject)}/`));
}
