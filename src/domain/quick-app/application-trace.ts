import { adminRole } from '#contract/roles.ts';
import type { Caller } from '../callers/caller.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { unitsPerUsd } from '../limits/limits.ts';
import { computeCost, type PricedUsage } from '../usage/usage.ts';

/**
 * Whether a caller may see how an application works: who may edit it. Of one that a user made that is the user, of one of the
 * configuration whoever has the role `admin`; no application that stands in for them.
 */
export function canTrace({ chain, subject, roles }: Caller, { ownership }: Deployment): boolean {
  if (chain !== null) return false;
  return ownership === null ? roles.includes(adminRole) : ownership.owner === subject;
}

/** Returns the cost of tokens in USD. Returns undefined if the price of a model is not known, or the counts are only declared. */
export function computeUsd({ deployments }: ConfigSnapshot, usage: readonly PricedUsage[]): number | undefined {
  let units = 0;
  for (const item of usage) {
    const deployment = deployments.get(item.model);
    if (deployment?.pricing === undefined || item.declared === true) return undefined;
    units += computeCost(deployment, item);
  }
  return usage.length === 0 ? undefined : units / unitsPerUsd;
}
