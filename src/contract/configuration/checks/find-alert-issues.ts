import { defaultRole } from '../../roles.ts';
import { hasSecretName } from '../access.ts';
import { type AlertScope, type AlertWindow, parseAlertScope, parseAlertWindow } from '../alerts.ts';
import type { Configuration } from '../configuration.ts';
import { describeUnconfigured } from '../did-you-mean.ts';
import { listObjects } from '../entries.ts';
import type { Issue } from '../issue.ts';
import type { LimitSettings } from '../limits.ts';

/** Yields an error for each alert with the same limits and the same address as another one. */
export function* findAlertIssues(configuration: unknown): Iterable<Issue> {
  const seen = new Set<string>();
  const { alerts } = (configuration ?? {}) as { readonly alerts?: unknown };
  for (const [index, { of, window, url }] of listObjects(alerts)) {
    const identity = JSON.stringify([of, window, url]);
    if (seen.has(identity)) {
      const hint = 'list all thresholds in `at` of one alert';
      yield { path: ['alerts', index], message: 'has the same `of`, `window`, and `url` as another alert', hint };
    }
    seen.add(identity);
  }
}

/** Applications that are created through the API exist independently of the configuration. */
export function mayExist(id: string, ids: ReadonlySet<string>): boolean {
  return ids.has(id) || id.startsWith('applications/');
}

/** Yields a warning for each alert that Parley never sends, because it names something that does not exist or has no limit. */
export function* findAlertWarnings(configuration: Configuration, ids: ReadonlySet<string>): Iterable<Issue> {
  for (const [index, { of, window }] of configuration.alerts.entries()) {
    const scope = parseAlertScope(of);
    const limit = parseAlertWindow(window);
    if (scope === undefined || limit === undefined) continue;
    const path = ['alerts', index];
    const { deployment } = 'key' in limit ? limit : {};
    const candidates = listCandidates(configuration, scope.kind);
    if (candidates !== undefined && !candidates.includes(scope.name))
      yield { path: [...path, 'of'], ...describeUnconfigured(`a ${scope.kind}`, scope.name, candidates) };
    else if (deployment !== undefined && deployment !== '*' && !mayExist(deployment, ids))
      yield { path: [...path, 'window'], ...describeUnconfigured('a deployment', deployment, ids) };
    else if (!listSettings(configuration, scope).some((settings) => hasLimit(settings, limit))) {
      const hint = `set this limit, for example ${toExample(scope, limit)}`;
      yield { path: [...path, 'window'], message: `refers to a limit that ${of} does not have`, hint };
    }
  }
}

/** Returns the valid names of a kind, or undefined if every name is valid. */
function listCandidates({ projects, keys, roles }: Configuration, kind: AlertScope['kind']): readonly string[] | undefined {
  switch (kind) {
    case 'project':
      return Object.keys(projects);
    case 'key':
      return Object.entries(keys).flatMap(([name, entry]) => (hasSecretName(entry) ? [] : [name]));
    case 'role':
      return [...Object.keys(roles), defaultRole];
    default:
      return undefined;
  }
}

/** Returns the entries that can set the limits of a scope. */
function listSettings({ projects, keys, roles, users }: Configuration, { kind, name }: AlertScope): readonly LimitSettings[] {
  const sections: Readonly<Record<AlertScope['kind'], readonly (LimitSettings | undefined)[]>> = {
    project: [projects[name]],
    key: [keys[name]],
    role: [roles[name], roles[defaultRole]],
    user: [users[name]],
    every: [...Object.values(roles), ...Object.values(users)],
  };
  return sections[kind].filter((settings) => settings !== undefined);
}

function hasLimit({ limits = {}, totals, costLimit }: LimitSettings, limit: AlertWindow): boolean {
  if ('costKey' in limit) return costLimit?.[limit.costKey] !== undefined;
  const { key, deployment } = limit;
  if (deployment === undefined) return totals?.[key] !== undefined;
  const onDeployment = deployment === '*' ? Object.values(limits) : [limits[deployment] ?? limits['*']];
  return onDeployment.some((values) => values?.[key] !== undefined);
}

function toExample({ kind }: AlertScope, limit: AlertWindow): string {
  if ('costKey' in limit) return `costLimit.${limit.costKey}`;
  if (limit.deployment !== undefined) return `limits["${limit.deployment.slice(0, 200)}"].${limit.key}`;
  return kind === 'role' || kind === 'every' ? 'a deployment after the window, such as tokens.day:*' : `totals.${limit.key}`;
}
