import { isJsonObject, type JsonObject } from '#base/json.ts';
import { defaultRole } from '#contract/roles.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { ImportTools } from '../tools.ts';

type Windows = Readonly<Record<string, number>>;

interface Role {
  readonly source: ForeignObject;
  /** By model. */
  readonly limits: Map<string, Windows>;
  readonly costLimit: Windows | undefined;
}

const tokenWindows = ['minute', 'day', 'week', 'month', 'requestHour', 'requestDay', 'requestMinute'] as const;
const costWindows = ['day', 'week', 'month'] as const;

/**
 * The entries of `roles`. What DIAL takes from the role `default` for want of an entry is written into each role, since a role without an
 * entry is not limited here. Limits of what is no model are left out: DIAL does not hold anybody to them.
 */
export function importRoles(root: ForeignObject, tools: ImportTools): void {
  const models = new Set(root.named('models').map(([id]) => id));
  const roles = new Map(root.named('roles').map(([name, source]) => [name, toRole(source, models, tools)]));
  const byDefault = roles.get(defaultRole);
  for (const [name, role] of roles) {
    if (name !== defaultRole) tellWidened(role, [...roles.values()], { models, byDefault, tools });
    const limits = name === defaultRole ? role.limits : new Map([...(byDefault?.limits ?? []), ...role.limits]);
    const costLimit = role.costLimit ?? byDefault?.costLimit;
    const entry: JsonObject = {};
    if (limits.size > 0) entry.limits = tools.result.from(role.source.at('limits'), Object.fromEntries(limits));
    if (costLimit !== undefined) entry.costLimit = tools.result.from(role.source.at('costLimit'), { ...costLimit });
    tools.result.put('roles', name, tools.result.from(role.source.path, entry));
  }
}

function toRole(source: ForeignObject, models: ReadonlySet<string>, { notes, result }: ImportTools): Role {
  const limits = new Map<string, Windows>();
  for (const [id, limit] of source.named('limits')) {
    const windows = toWindows(limit, tokenWindows);
    limit.leave({}, 'a limit of DIAL');
    if (isCarried(id, result)) limits.set(id, windows);
    else if (models.has(id)) continue;
    else if (Object.keys(windows).length > 0)
      notes.lose(
        limit.path,
        'is left out: it names no model, and DIAL limits models only',
        'write it into the result if it should hold from now on',
      );
  }
  const cost = source.object('costLimit');
  const costLimit = cost && toWindows(cost, costWindows);
  cost?.leave({ minute: 'money is limited by day, week and month here' }, 'a cost limit of DIAL');
  source.leave({ name: null, share: 'nothing is shared here' }, 'a role of DIAL');
  return { source, limits, costLimit };
}

/** What becomes of a model that is left out is told where it stands. */
function isCarried(id: string, { configuration }: ImportTools['result']): boolean {
  return isJsonObject(configuration.models) && Object.hasOwn(configuration.models, id);
}

/** DIAL writes numbers as texts too, and the greatest number for no limit. */
function toWindows(limit: ForeignObject, keys: readonly string[]): Windows {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const total = limit.number(key);
      return total === undefined || total > Number.MAX_SAFE_INTEGER ? [] : [[key, total]];
    }),
  );
}

interface Widening {
  readonly models: ReadonlySet<string>;
  readonly byDefault: Role | undefined;
  readonly tools: ImportTools;
}

/** Where a role has no entry for a model, DIAL leaves it out of account beside one that has; here the most generous role counts. */
function tellWidened(role: Role, roles: readonly Role[], { models, byDefault, tools }: Widening): void {
  const widened = [...models].filter((id) => {
    if (role.limits.has(id)) return false;
    const own = byDefault?.limits.get(id) ?? {};
    return roles.some((other) => other !== byDefault && isMoreGenerous(own, other.limits.get(id)));
  });
  if (widened.length === 0) return;
  const most = widened.slice(0, 5).join(', ') + (widened.length > 5 ? ', …' : '');
  tools.notes.lose(
    role.source.path,
    `means more than in DIAL for ${most}: of several roles the most generous holds, also where this one has its limit from default or has none`,
    'give it limits of its own if its callers have other roles too',
  );
}

/** Whether some window of the one is wider than that of the other. */
function isMoreGenerous(one: Windows, other: Windows | undefined): boolean {
  return Object.entries(other ?? {}).some(([window, total]) => (one[window] ?? Number.POSITIVE_INFINITY) > total);
}
