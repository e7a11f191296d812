import type { RoleEntry } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { defaultRole } from '#contract/roles.ts';
import { costWindows, deploymentWindows, type Window } from './windows.ts';

const everyDeployment = '*';
const noLimits: readonly Limit[] = [];
/** Number of cost units per USD. Cost is counted in billionths of a USD. */
export const unitsPerUsd = 1e9;

/** Maximum usage within a window, in the units of its kind. A total of 0 or less denies access. */
export interface Limit {
  readonly window: Window;
  readonly total: number;
}

/** Limits that a configuration sets for roles. */
export class RoleLimits {
  readonly #roles: ReadonlyMap<string, RoleLimitSet>;

  constructor(roles: Configuration['roles']) {
    const fallback = roles[defaultRole];
    this.#roles = new Map(Object.entries(roles).map(([name, entry]) => [name, toRoleLimitSet(entry, fallback)]));
  }

  /**
   * Returns the limits for a caller with these roles on a deployment. An empty list means unlimited. If several roles apply,
   * the most generous limit of each window applies. Falls back to `default` for an unknown role, and for a role without an
   * entry for the deployment or without a cost limit. If `default` is not configured, an unknown role has no effect.
   */
  find(roles: readonly string[], deployment: string): readonly Limit[] {
    let limitsOfRoles: readonly Limit[] | undefined;
    for (const role of roles.length > 0 ? roles : [defaultRole]) {
      const limits = this.#findForRole(role, deployment);
      if (limits !== undefined) limitsOfRoles = limitsOfRoles === undefined ? limits : toMostGenerous(limitsOfRoles, limits);
    }
    return limitsOfRoles ?? noLimits;
  }

  #findForRole(role: string, deployment: string): readonly Limit[] | undefined {
    const limits = this.#roles.get(role) ?? this.#roles.get(defaultRole);
    return limits && (limits.byDeployment.get(deployment) ?? limits.byDefault);
  }
}

/** Returns a limit that denies access, if there is one. */
export function findDenyingLimit(limits: readonly Limit[]): Limit | undefined {
  return limits.find(({ total }) => total <= 0);
}

interface RoleLimitSet {
  readonly byDeployment: ReadonlyMap<string, readonly Limit[]>;
  readonly byDefault: readonly Limit[];
}

/** Resolves entries in this order: the role's entry for the deployment, its `*` entry, the entries of the fallback. */
function toRoleLimitSet(entry: RoleEntry, fallback: RoleEntry | undefined): RoleLimitSet {
  const cost = toLimits(costWindows, entry.costLimit ?? fallback?.costLimit ?? {}, unitsPerUsd);
  const entries = entry.limits[everyDeployment] === undefined ? { ...fallback?.limits, ...entry.limits } : entry.limits;
  const byDeployment = new Map(
    Object.entries(entries).map(([id, limit]) => [id, [...toLimits(deploymentWindows, limit, 1), ...cost]]),
  );
  return { byDeployment, byDefault: byDeployment.get(everyDeployment) ?? cost };
}

function toLimits<Key extends string>(
  windows: Readonly<Record<Key, Window>>,
  totals: Partial<Record<Key, number>>,
  units: number,
): Limit[] {
  return (Object.entries(windows) as [Key, Window][]).flatMap(([key, window]) => {
    const total = totals[key];
    return total === undefined ? [] : [{ window, total: Math.round(total * units) }];
  });
}

function toMostGenerous(left: readonly Limit[], right: readonly Limit[]): readonly Limit[] {
  return left.flatMap((limit) => {
    const rightLimit = right.find(({ window }) => window === limit.window);
    return rightLimit === undefined ? [] : [rightLimit.total > limit.total ? rightLimit : limit];
  });
}
