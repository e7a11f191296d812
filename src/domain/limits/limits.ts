import { hasSecretName, type RoleEntry } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { hasLimits, type LimitSettings, type resetKinds } from '#contract/configuration/limits.ts';
import { defaultRole } from '#contract/roles.ts';
import type { Caller } from '../callers/caller.ts';
import { toKeyId } from '../callers/key-ring.ts';
import { type CompleteReset, completeReset, costWindows, deploymentWindows, type Window, withReset } from './windows.ts';

const everyDeployment = '*';
const noLimits: readonly Limit[] = [];
/** Number of cost units per USD. Cost is counted in billionths of a USD. */
export const unitsPerUsd = 1e9;

type ScopeKind = (typeof resetKinds)[number];

/** A project, a key, or a user whose usage is counted together. */
export interface LimitScope {
  /** `role` is a user, counted for the limits of the user's roles. */
  readonly kind: ScopeKind | 'role';
  /** Name of the project, ID of the key, or user. */
  readonly id: string;
  /** Time of the last reset of the counters, as configured. Undefined if there was none. */
  readonly resetAt: string | undefined;
}

/** Maximum usage within a window, in the units of its kind. A total of 0 or less denies access. */
export interface Limit {
  readonly window: Window;
  readonly total: number;
  /** Whether the usage of all deployments counts together. */
  readonly isOverall: boolean;
  /** Undefined for the roles of a user whose counters were never reset. */
  readonly scope?: LimitScope;
  /** Alerts about its usage. Undefined if there are none. */
  readonly alerts?: readonly LimitAlert[];
}

/** An alert about a limit of one caller. */
export interface LimitAlert {
  /** ID of the alert. It does not change on a reload. */
  readonly id: string;
  /** Scope of the alert as the configuration names it, such as `project:search`. */
  readonly of: string;
  /** The user, if the alert counts each user separately. */
  readonly user?: string;
  /** Window with its deployment, such as `tokens.day:gpt`. */
  readonly window: string;
  /** Thresholds as fractions of the limit, from 0 to 1. */
  readonly at: readonly number[];
}

/** Part of a caller that determines its limits. */
export type LimitedCaller = Pick<Caller, 'subject' | 'project' | 'roles' | 'configuredKey'>;

/** Adds the alerts to the limits of a caller on a deployment. */
type AttachAlerts = (limits: readonly Limit[], caller: LimitedCaller, deployment: string) => readonly Limit[];

/** Limits of a configuration: those of roles, projects, keys, and users. */
export class LimitRules {
  readonly #roles: RoleLimits;
  readonly #scopes: Readonly<Record<ScopeKind, ReadonlyMap<string, LimitSet>>>;
  readonly #resets: Configuration['limitResets'];
  readonly #hasScopes: boolean;
  readonly #attachAlerts: AttachAlerts;

  constructor(
    configuration: Pick<Configuration, 'roles' | 'projects' | 'users' | 'keys' | 'limitResets'>,
    attachAlerts: AttachAlerts = (limits) => limits,
  ) {
    const { roles, projects, users, keys, limitResets } = configuration;
    this.#roles = new RoleLimits(roles);
    this.#resets = limitResets;
    this.#attachAlerts = attachAlerts;
    const toSets = (kind: ScopeKind, entries: readonly (readonly [id: string, entry: LimitSettings, name?: string])[]) =>
      new Map(entries.map(([id, entry, name = id]) => [id, toLimitSet(entry, this.#toScope(kind, name))]));
    const listLimited = <Entry extends LimitSettings>(section: Readonly<Record<string, Entry>>) =>
      Object.entries(section).filter(([, entry]) => hasLimits(entry));
    this.#scopes = {
      project: toSets('project', listLimited(projects)),
      key: toSets(
        'key',
        listLimited(keys).map(([name, entry]) => [
          toKeyId(name, entry),
          entry,
          hasSecretName(entry) ? toKeyId(name, entry) : name,
        ]),
      ),
      user: toSets('user', listLimited(users)),
    };
    this.#hasScopes = Object.keys(limitResets).length > 0 || Object.values(this.#scopes).some(({ size }) => size > 0);
  }

  /**
   * Returns the limits for a caller on a deployment: those of its roles, its user, its key, and its project. All of them apply.
   * An empty list means unlimited.
   */
  find(caller: LimitedCaller, deployment: string): readonly Limit[] {
    return this.#attachAlerts(this.#findAll(caller, deployment), caller, deployment);
  }

  /** Returns a limit that denies a caller access to a deployment, if any. Adds no alerts, because lists call this for each deployment. */
  findDenying(caller: LimitedCaller, deployment: string): Limit | undefined {
    return this.#findAll(caller, deployment).find(({ total }) => total <= 0);
  }

  #findAll(caller: LimitedCaller, deployment: string): readonly Limit[] {
    const roleLimits = this.#roles.find(caller.roles, deployment);
    if (!this.#hasScopes) return roleLimits;
    const { subject, project, configuredKey } = caller;
    const { user, key, project: projects } = this.#scopes;
    return [
      ...this.#withUserReset(roleLimits, subject),
      ...getLimits(user.get(subject), deployment),
      ...(configuredKey === undefined ? noLimits : getLimits(key.get(configuredKey.id), deployment)),
      ...getLimits(projects.get(project), deployment),
    ];
  }

  /** Returns the limits of the roles of a user on a deployment. */
  findForRoles(subject: string, roles: readonly string[], deployment: string): readonly Limit[] {
    return this.#withUserReset(this.#roles.find(roles, deployment), subject);
  }

  /** Returns the limits of a project, a key, or a user on a deployment. For a key, `id` is the result of `toKeyId`. */
  findForScope(kind: ScopeKind, id: string, deployment: string): readonly Limit[] {
    return getLimits(this.#scopes[kind].get(id), deployment);
  }

  #withUserReset(limits: readonly Limit[], subject: string): readonly Limit[] {
    const scope = limits.length === 0 ? undefined : this.#toScope('user', subject);
    if (scope?.resetAt === undefined) return limits;
    const roleScope: LimitScope = { ...scope, kind: 'role' };
    return limits.map((limit) => (limit.window.kind === 'calls' ? limit : { ...limit, scope: roleScope }));
  }

  #toScope(kind: ScopeKind, id: string): LimitScope {
    const name = `${kind}:${id}`;
    return { kind, id, resetAt: Object.hasOwn(this.#resets, name) ? this.#resets[name]?.at : undefined };
  }
}

/** Limits that a configuration sets for roles. */
export class RoleLimits {
  readonly #roles: ReadonlyMap<string, LimitSet>;

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
    return limits && getLimits(limits, deployment);
  }
}

interface LimitSet {
  readonly byDeployment: ReadonlyMap<string, readonly Limit[]>;
  readonly byDefault: readonly Limit[];
}

function getLimits(set: LimitSet | undefined, deployment: string): readonly Limit[] {
  return set === undefined ? noLimits : (set.byDeployment.get(deployment) ?? set.byDefault);
}

/** Resolves entries in this order: the role's entry for the deployment, its `*` entry, the entries of the fallback. */
function toRoleLimitSet(entry: RoleEntry, fallback: RoleEntry | undefined): LimitSet {
  const costLimit = entry.costLimit ?? fallback?.costLimit;
  const limits = entry.limits[everyDeployment] === undefined ? { ...fallback?.limits, ...entry.limits } : entry.limits;
  return toLimitSet({ limits, ...(costLimit && { costLimit }) }, undefined);
}

function toLimitSet({ limits = {}, totals = {}, costLimit = {}, reset }: LimitSettings, scope: LimitScope | undefined): LimitSet {
  const options = { reset: completeReset(reset), ...(scope && { scope }) };
  const overall = [
    ...toLimits(deploymentWindows, totals, { ...options, isOverall: true, units: 1 }),
    ...toLimits(costWindows, costLimit, { ...options, isOverall: true, units: unitsPerUsd }),
  ];
  const byDeployment = new Map(
    Object.entries(limits).map(([id, limit]) => [
      id,
      [...toLimits(deploymentWindows, limit, { ...options, isOverall: false, units: 1 }), ...overall],
    ]),
  );
  return { byDeployment, byDefault: byDeployment.get(everyDeployment) ?? overall };
}

interface LimitOptions extends Pick<Limit, 'isOverall' | 'scope'> {
  readonly reset: CompleteReset | undefined;
  /** Units of the counters per unit of the configuration. */
  readonly units: number;
}

function toLimits<Key extends string>(
  windows: Readonly<Record<Key, Window>>,
  totals: Partial<Record<Key, number>>,
  { reset, units, isOverall, scope }: LimitOptions,
): Limit[] {
  return (Object.entries(windows) as [Key, Window][]).flatMap(([key, window]) => {
    const total = totals[key];
    return total === undefined
      ? []
      : [{ window: withReset(window, reset), total: Math.round(total * units), isOverall, ...(scope && { scope }) }];
  });
}

/** Returns the higher limit of each window. A window without a limit in one of the lists is unlimited. */
function toMostGenerous(first: readonly Limit[], second: readonly Limit[]): readonly Limit[] {
  return first.flatMap((limit) => {
    const sameWindow = second.find(({ window }) => window === limit.window);
    return sameWindow === undefined ? [] : [sameWindow.total > limit.total ? sameWindow : limit];
  });
}
