import { hash } from 'node:crypto';
import { type AlertEntry, type AlertScope, parseAlertScope } from '#contract/configuration/alerts.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { defaultRole } from '#contract/roles.ts';
import { toKeyId } from '../callers/key-ring.ts';
import { toWindowName } from './limit-status.ts';
import { type Limit, type LimitAlert, type LimitedCaller, unitsPerUsd } from './limits.ts';

/** A threshold that the usage of a limit has reached. Amounts are tokens, requests, or USD. */
export interface ReachedThreshold {
  readonly alert: LimitAlert;
  readonly threshold: number;
  readonly used: number;
  readonly limit: number;
  /** End of the period, in milliseconds since the epoch. */
  readonly resetsAtMs: number;
  /** Name of the counter, which is unique within the window. A reset changes it. */
  readonly holder: string;
  /** Stored name of the window. */
  readonly windowName: string;
}

/** Returns the ID of an alert, which depends on its limits and its address. */
export function toAlertId({ of, window, url }: Pick<AlertEntry, 'of' | 'window' | 'url'>): string {
  return hash('sha256', JSON.stringify([of, window, url]), 'base64url');
}

interface AlertRule extends Pick<AlertEntry, 'of' | 'window' | 'at'> {
  readonly id: string;
  readonly scope: AlertScope;
}

/** Alerts of a configuration. */
export class LimitAlerts {
  readonly #rules: readonly AlertRule[];
  readonly #configuredRoles: ReadonlySet<string>;

  constructor({ alerts, roles }: Pick<Configuration, 'alerts' | 'roles'>) {
    this.#rules = alerts.flatMap(({ of, window, at, url }) => {
      const scope = parseAlertScope(of);
      return scope === undefined ? [] : [{ of, window, at, scope, id: toAlertId({ of, window, url }) }];
    });
    this.#configuredRoles = new Set(Object.keys(roles));
  }

  /** Adds the alerts to the limits of a caller on a deployment. */
  attach(limits: readonly Limit[], caller: LimitedCaller, deployment: string): readonly Limit[] {
    if (this.#rules.length === 0) return limits;
    return limits.map((limit) => {
      const window = toWindowName(limit, deployment);
      const everyWindow = limit.isOverall ? window : toWindowName(limit, '*');
      const rules = this.#rules.filter(
        (rule) => (rule.window === window || rule.window === everyWindow) && this.#matches(rule, limit, caller),
      );
      return rules.length === 0 ? limit : { ...limit, alerts: rules.map((rule) => toLimitAlert(rule, window, caller)) };
    });
  }

  #matches({ scope: { kind, name } }: AlertRule, { scope }: Limit, caller: LimitedCaller): boolean {
    const isOfRoles = scope === undefined || scope.kind === 'role';
    switch (kind) {
      case 'every':
        return isOfRoles || scope.kind === 'user';
      case 'role':
        return isOfRoles && this.#hasRole(caller, name);
      case 'key':
        // Alerts name only keys whose name is not their secret.
        return scope?.kind === 'key' && scope.id === toKeyId(name, { sha256: '' });
      default:
        return scope?.kind === kind && scope.id === name;
    }
  }

  /** Returns whether a caller has a role. An unknown role counts as `default`. */
  #hasRole({ roles }: LimitedCaller, name: string): boolean {
    if (name !== defaultRole) return roles.includes(name);
    return roles.length === 0 || roles.some((role) => role === defaultRole || !this.#configuredRoles.has(role));
  }
}

function toLimitAlert({ id, of, at, scope: { kind } }: AlertRule, window: string, { subject }: LimitedCaller): LimitAlert {
  return { id, of, window, at, ...((kind === 'role' || kind === 'every') && { user: subject }) };
}

/** Relative tolerance for rounding errors of a product. For example, 0.07 * 100 is more than 7. */
const maxRoundingError = 1e-12;

/** Yields the thresholds of a limit that the usage has reached. */
export function* findReachedThresholds(
  { alerts = [], window: { kind, name: windowName }, total }: Limit,
  { used, resetsAtMs, holder }: { readonly used: number; readonly resetsAtMs: number; readonly holder: string },
): Iterable<ReachedThreshold> {
  if (used === 0) return;
  const units = kind === 'cost' ? unitsPerUsd : 1;
  for (const alert of alerts) {
    for (const threshold of alert.at) {
      if (used < total * threshold * (1 - maxRoundingError)) continue;
      yield { alert, threshold, used: used / units, limit: total / units, resetsAtMs, holder, windowName };
    }
  }
}
