import { adminRole } from '#contract/roles.ts';
import type { Caller } from '../callers/caller.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { unitsPerUsd } from '../limits/limits.ts';
import { computeCost, type PricedUsage } from '../usage/usage.ts';

/**
 * Returns whether a caller may see the trace of an application. Only callers that may edit it can: the owner of a saved
 * application, and the role `admin` for a configured one. Returns false for a per-request key.
 */
export function canTrace({ chain, subject, roles }: Caller, { ownership }: Deployment): boolean {
  if (chain !== null) return false;
  return ownership === null ? roles.includes(adminRole) : ownership.owner === subject;
}

/** Returns the cost of tokens in USD, or undefined if the price of a model is unknown or the counts are only declared. */
export function computeUsd({ deployments }: ConfigSnapshot, usage: readonly PricedUsage[]): number | undefined {
  let units = 0;
  for (const item of usage) {
    const deployment = deployments.get(item.model);
    if (deployment?.pricing === undefined || item.declared === true) return undefined;
    units += computeCost(deployment, item);
  }
  return usage.length === 0 ? undefined : units / unitsPerUsd;
}
