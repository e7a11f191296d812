import { isJsonObject, type JsonObject, toNumber, toObject } from '#base/json/json.ts';

/** Windows of limits, in the order of the select element. */
export const limitWindows = [
  'day',
  'minute',
  'week',
  'month',
  'requestMinute',
  'requestHour',
  'requestDay',
  'maxParallel',
] as const;
export type LimitWindow = (typeof limitWindows)[number];

/** Name of the entry for all deployments that have no entry. */
export const otherDeployments = '*';

/** Limits of a role: for each deployment, an object with the limit of each window. */
export type RoleLimits = Readonly<Record<string, JsonObject>>;

export function readLimits(role: JsonObject): RoleLimits {
  const limits = toObject(role.limits);
  return Object.fromEntries(Object.entries(limits).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])));
}

/** The limit that applies to a deployment. */
export interface EffectiveLimit {
  /** Undefined if there is no limit. */
  readonly value: number | undefined;
  /** Whether the role has an entry for the deployment. Otherwise the limit is inherited. */
  readonly isOwn: boolean;
}

/**
 * Returns the limit of a role for a deployment. The first of these entries applies: the role's entry for the deployment, its entry
 * for `*`, and the entries of the role `default`.
 */
export function findLimit(
  roles: ReadonlyMap<string, RoleLimits>,
  { role, deployment, window }: { readonly role: string; readonly deployment: string; readonly window: LimitWindow },
): EffectiveLimit {
  const ownEntry = roles.get(role)?.[deployment];
  const entry = ownEntry ?? findInherited(roles, role, deployment);
  return { value: toNumber(entry?.[window]), isOwn: ownEntry !== undefined };
}

/** Input of a cell: a number, or '' to inherit the limit. */
export interface CellChange {
  readonly role: string;
  readonly deployment: string;
  readonly window: LimitWindow;
  readonly text: string;
}

/** Digits, or groups of three digits with the separators of the languages of the page. */
const limitTextPattern = /^(?:\d{1,15}|\d{1,3}(?:[.,'’\s\u00a0\u202f]\d{3}){1,4})$/;

/** Returns the number in a text. Returns undefined for an empty text, and null for an invalid one. */
export function parseLimit(text: string): number | undefined | null {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return limitTextPattern.test(trimmed) ? Number(trimmed.replace(/\D/g, '')) : null;
}

/**
 * Returns a role with the changed cells. An entry without windows is removed, so that the entry for `*` applies again. A new entry
 * starts with the other windows that applied before, because it replaces the entry for `*` completely.
 */
export function withLimits(
  role: JsonObject,
  changes: readonly Omit<CellChange, 'role'>[],
  getInherited: (deployment: string) => JsonObject | undefined,
): JsonObject {
  const limits: Record<string, JsonObject> = { ...readLimits(role) };
  for (const { deployment, window, text } of changes) {
    const value = parseLimit(text);
    if (value === null) continue;
    const { [window]: _, ...otherWindows } = limits[deployment] ?? (value === undefined ? {} : (getInherited(deployment) ?? {}));
    const entry = value === undefined ? otherWindows : { ...otherWindows, [window]: value };
    if (Object.keys(entry).length === 0) delete limits[deployment];
    else limits[deployment] = entry;
  }
  return { ...role, limits };
}

/** Returns the entry that a role inherits for a deployment. */
export function findInherited(roles: ReadonlyMap<string, RoleLimits>, role: string, deployment: string): JsonObject | undefined {
  const defaultLimits = roles.get('default');
  return roles.get(role)?.[otherDeployments] ?? defaultLimits?.[deployment] ?? defaultLimits?.[otherDeployments];
}
