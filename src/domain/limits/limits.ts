import type { RoleEntry } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { defaultRole } from '#contract/roles.ts';
import { costWindows, deploymentWindows, type Window } from './windows.ts';

const everyDeployment = '*';
const noLimits: readonly Limit[] = [];
/** Money is counted in billionths of a USD. */
export const unitsPerUsd = 1e9;

/** How much may be used within a window, in the units of its kind; 0 or less is no access. */
export interface Limit {
  readonly window: Window;
  readonly total: number;
}

/** Which limits the roles of a configuration set. */
export class RoleLimits {
  readonly #roles: ReadonlyMap<string, RoleLimitSet>;

  constructor(roles: Configuration['roles']) {
    const fallback = roles[defaultRole];
    this.#roles = new Map(Object.entries(roles).map(([name, entry]) => [name, toRoleLimitSet(entry, fallback)]));
  }

  /**
   * The limits that hold for the bearer of these roles on a deployment, the most generous of each window; none: unlimited.
   * A role that is not configured stands for `default`, and so does one without an entry for the deployment, or without a limit of
   * money; if that is not configured either, it says nothing.
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

/** A limit that leaves no use at all, if there is one. */
export function findClosedLimit(limits: readonly Limit[]): Limit | undefined {
  return limits.find(({ total }) => total <= 0);
}

interface RoleLimitSet {
  readonly byDeployment: ReadonlyMap<string, readonly Limit[]>;
  readonly byDefault: readonly Limit[];
}

/** An entry of the role itself comes first, then its `*`, then those of the fallback. */
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
