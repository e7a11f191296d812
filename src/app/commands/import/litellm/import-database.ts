import { hash } from 'node:crypto';
import { filterObjects, filterStrings, type JsonObject, toObject } from '#base/json/json.ts';
import type { Path } from '#contract/configuration/issue.ts';
import { subjectPrefixes } from '#domain/callers/subjects.ts';
import { MissingTableError, readTables } from '#stores/sql/engine/read-tables.ts';
import { withoutUndefined } from '../foreign-object.ts';
import { SourceError } from '../read-source.ts';
import type { ImportContext, Notes } from '../result.ts';

/** Rows of the tables that an import reads, by their names in the database of LiteLLM. */
export type LitellmTables = Readonly<Record<(typeof tableNames)[number], readonly JsonObject[]>>;

const tableNames = ['LiteLLM_VerificationToken', 'LiteLLM_TeamTable', 'LiteLLM_BudgetTable', 'LiteLLM_UserTable'] as const;

/** Reads the tables of a LiteLLM database. Throws `SourceError` without the address, which may contain a password. */
export async function readLitellmTables(url: string): Promise<LitellmTables> {
  try {
    return await readTables(url, tableNames);
  } catch (error) {
    const message =
      error instanceof MissingTableError
        ? 'is not a database of LiteLLM: a table is missing'
        : `cannot be read: ${(error as Error).message}`;
    throw new SourceError({ file: '--database', path: '', message });
  }
}

/** Team of the keys that LiteLLM creates when a user signs in to its dashboard. */
const dashboardTeam = 'litellm-dashboard';
/** Names that LiteLLM accepts instead of a list of models. */
const allModels: ReadonlySet<string> = new Set(['all-proxy-models', 'all-team-models']);

/** Columns of keys, teams, users, or budgets that Parley has no equivalent for. */
const unsupportedColumns: Readonly<Record<string, string>> = {
  model_max_budget: 'Parley limits the cost of all models together',
  budget_limits: 'Parley limits the cost of all models together',
  soft_budget: 'it only sends alerts',
  organization_id: 'Parley has no budgets of organizations',
  project_id: 'its keys become keys of the team',
  allowed_routes: 'Parley has no routes of keys',
};

/** Limits in the metadata of a key or team that Parley has no equivalent for. */
const unsupportedMetadata: Readonly<Record<string, string>> = {
  model_tpm_limit: 'Parley limits all models of a key together',
  model_rpm_limit: 'Parley limits all models of a key together',
  team_member_budget_id: 'Parley has no budgets of members within a team',
};

/** Imports keys, teams, users, and budgets. Teams become projects. Current spend is not imported. */
export function importLitellmDatabase(tables: LitellmTables, context: ImportContext): void {
  const teams = new Map<string, Team>();
  const names = new Set<string>();
  for (const row of tables.LiteLLM_TeamTable) {
    const id = getText(row, 'team_id') ?? '';
    const alias = getText(row, 'team_alias') ?? id;
    const name = [alias, id].find((candidate) => !names.has(candidate)) ?? `${alias} ${id}`;
    const team = { row, name };
    names.add(team.name);
    teams.set(id, team);
    importTeam(team, context);
  }
  const budgets = new Map(tables.LiteLLM_BudgetTable.map((row) => [getText(row, 'budget_id') ?? '', row]));
  const personalProjects = new Map<string, string>();
  const keyNames = new Set<string>();
  const toPersonalProject = (owner: string): string => (names.has(owner) ? `user ${owner}` : owner);
  const users = new Map(tables.LiteLLM_UserTable.map((row) => [getText(row, 'user_id') ?? '', row]));
  for (const row of tables.LiteLLM_VerificationToken) {
    const user = importKey(row, { teams, users, budgets, keyNames, toPersonalProject }, context);
    if (user !== undefined) personalProjects.set(user, toPersonalProject(user));
  }
  for (const row of tables.LiteLLM_UserTable) importUser(row, personalProjects, context);
  context.notes.addNotice(['LiteLLM_VerificationToken', 'spend'], 'is not imported: limits count from 0');
}

interface Team {
  readonly row: JsonObject;
  /** Name of its project. */
  readonly name: string;
}

function importTeam({ row, name }: Team, { notes, result }: ImportContext): void {
  const path: Path = ['LiteLLM_TeamTable', name];
  reportUnsupported(row, path, notes);
  const members = filterObjects(row.members_with_roles);
  const admins = members.filter(({ role }) => role === 'admin').map(({ user_id: user }) => user);
  const owners = [...new Set(filterStrings([...admins, ...getList(row, 'admins')]))];
  const entry = { ...toLimits(row, path, notes), ...(owners.length > 0 && { owners }) };
  result.put('projects', name, path, entry);
}

/**
 * Imports the limits of a user. `personalProjects` maps each user who has keys without a team to the project of these keys.
 */
function importUser(row: JsonObject, personalProjects: ReadonlyMap<string, string>, { notes, result }: ImportContext): void {
  const id = getText(row, 'user_id') ?? '';
  const path: Path = ['LiteLLM_UserTable', id];
  reportUnsupported(row, path, notes);
  const limits = toLimits(row, path, notes);
  if (Object.keys(limits).length === 0) return;
  const project = personalProjects.get(id);
  const subject = project === undefined ? id : `${subjectPrefixes.key}${project}`;
  result.put('users', subject, path, limits);
}

interface KeySources {
  readonly teams: ReadonlyMap<string, Team>;
  readonly users: ReadonlyMap<string, JsonObject>;
  readonly budgets: ReadonlyMap<string, JsonObject>;
  /** Names of the imported keys. */
  readonly keyNames: Set<string>;
  /**
   * Returns the project for the keys of an owner without a team. In Parley, all keys of a project have the same subject, so this
   * project must differ from the projects of teams.
   */
  readonly toPersonalProject: (owner: string) => string;
}

/** Imports a key by its digest. Returns its user if it has no team. */
function importKey(
  row: JsonObject,
  { teams, users, budgets, keyNames, toPersonalProject }: KeySources,
  { notes, result, nowMs }: ImportContext,
): string | undefined {
  const teamId = getText(row, 'team_id');
  if (teamId === dashboardTeam) return undefined;
  const digest = toDigest(getText(row, 'token') ?? '');
  const alias = getText(row, 'key_alias');
  const fallbackName = `litellm_${(digest ?? hash('sha256', String(row.token), 'hex')).slice(0, 12)}`;
  const name = alias === undefined || keyNames.has(alias) || /^\d+$/.test(alias) ? fallbackName : alias;
  const path: Path = ['LiteLLM_VerificationToken', name];
  if (digest === undefined) {
    notes.addLoss(path, 'is not imported: LiteLLM does not store its SHA-256 digest', 'create a new key for its clients');
    return undefined;
  }
  const expiresAt = toTime(row.expires);
  if (expiresAt !== undefined && Date.parse(expiresAt) <= nowMs) {
    notes.addLoss(path, 'is not imported: it has expired');
    return undefined;
  }
  keyNames.add(name);
  const team = teamId === undefined ? undefined : teams.get(teamId);
  const user = getText(row, 'user_id') ?? '';
  const holder = team?.row ?? users.get(user) ?? {};
  const budget = budgets.get(getText(row, 'budget_id') ?? '') ?? {};
  for (const part of [budget, row]) reportUnsupported(part, path, notes);
  const isBlocked = row.blocked === true || team?.row.blocked === true;
  const entry = withoutUndefined({
    project: team?.name ?? toPersonalProject(user || name),
    name: alias,
    sha256: digest,
    ...toLimits({ ...budget, ...omitNullColumns(row) }, path, notes),
    expiresAt,
    deployments: toDeployments(row, holder, path, notes),
    disabled: isBlocked ? true : undefined,
  });
  result.put('keys', name, path, entry);
  return team === undefined && user !== '' ? user : undefined;
}

/** Returns the digest of a stored key. Old versions of LiteLLM store some keys in plain text. */
function toDigest(token: string): string | undefined {
  if (token.startsWith('sk-')) return hash('sha256', token, 'hex');
  return /^[0-9a-f]{64}$/i.test(token) ? token.toLowerCase() : undefined;
}

/**
 * Returns the models that a key can call: the models that both the key and its `holder` allow. The holder is the team, or the user
 * of a key without a team. Undefined means all models.
 */
function toDeployments(row: JsonObject, holder: JsonObject, path: Path, notes: Notes): readonly string[] | undefined {
  const [keyModels, holderModels] = [readModels(row), readModels(holder)];
  const models =
    keyModels === undefined || holderModels === undefined ? (keyModels ?? holderModels) : intersect(keyModels, holderModels);
  if (models === undefined) return undefined;
  const specificModels = models.filter((model) => !model.includes('*'));
  if (specificModels.length < models.length)
    notes.addLoss([...path, 'models'], 'has patterns that are not imported', 'add the models to `deployments` of the key');
  return specificModels;
}

/** Returns the models of a key, a team, or a user. Undefined means all models. */
function readModels(row: JsonObject): readonly string[] | undefined {
  const models = getList(row, 'models');
  if (models.includes('no-default-models')) return [];
  const isUnrestricted = models.length === 0 || models.some((model) => allModels.has(model));
  return isUnrestricted ? undefined : models;
}

/** Returns the models that both lists allow. A pattern such as `openai/*` allows all models with its prefix. */
function intersect(left: readonly string[], right: readonly string[]): readonly string[] {
  const allows = (pattern: string, model: string): boolean =>
    pattern === model || (pattern.endsWith('*') && model.startsWith(pattern.slice(0, -1)));
  const allowsAny = (patterns: readonly string[], model: string) => patterns.some((pattern) => allows(pattern, model));
  return [...new Set([...left.filter((model) => allowsAny(right, model)), ...right.filter((model) => allowsAny(left, model))])];
}

const dayHours = 24;
const periods = [
  ['day', dayHours],
  ['week', 7 * dayHours],
  ['month', 31 * dayHours],
  ['year', 366 * dayHours],
] as const;

/** Hours by unit. Seconds and minutes are shorter than every period of a budget. */
const unitHours: Readonly<Record<string, number>> = {
  s: 0,
  m: 0,
  h: 1,
  d: dayHours,
  w: 7 * dayHours,
  mo: 31 * dayHours,
  y: 366 * dayHours,
};

/**
 * Returns the limits of a row. If Parley does not have the period of a budget, the next longer period applies, which is stricter.
 * A budget without a period, or with a period of more than a year, becomes a yearly budget, which can allow more.
 */
function toLimits(row: JsonObject, path: Path, notes: Notes): JsonObject {
  const totals = withoutUndefined({
    minute: getNumber(row, 'tpm_limit'),
    requestMinute: getNumber(row, 'rpm_limit'),
    maxParallel: getNumber(row, 'max_parallel_requests'),
  });
  const budget = getNumber(row, 'max_budget');
  return {
    ...(Object.keys(totals).length > 0 && { totals }),
    ...(budget !== undefined && toCostLimit(budget, row, path, notes)),
  };
}

function toCostLimit(budget: number, row: JsonObject, path: Path, notes: Notes): JsonObject {
  const duration = getText(row, 'budget_duration');
  const [, count, unit = ''] = /^(\d{1,6})(s|mo|m|h|d|w|y)$/.exec(duration ?? '') ?? [];
  const hours = count === undefined ? Number.POSITIVE_INFINITY : Number(count) * (unitHours[unit] ?? 0);
  // LiteLLM aligns these durations with the calendar.
  const isExact = ['1d', '24h', '7d', '1w', '30d', '1mo', '365d', '1y', '12mo'].includes(duration ?? '');
  const longerPeriod = periods.find(([, length]) => hours <= length)?.[0];
  const period = longerPeriod ?? 'year';
  if (!isExact) {
    const reason = duration === undefined ? 'has no period' : `has the period ${duration}`;
    const effect = longerPeriod === undefined ? ', which can allow more' : '';
    notes.addLoss([...path, 'max_budget'], `${reason}, and becomes a budget for each ${period}${effect}`, 'check `costLimit`');
  }
  const resetAt = toTime(row.budget_reset_at);
  const dayOfMonth = resetAt === undefined || period !== 'month' ? 1 : new Date(resetAt).getUTCDate();
  return { costLimit: { [period]: budget }, ...(dayOfMonth !== 1 && { reset: { dayOfMonth } }) };
}

function reportUnsupported(row: JsonObject, path: Path, notes: Notes): void {
  for (const [column, reason] of Object.entries(unsupportedColumns))
    if (!isEmpty(row[column])) notes.addLoss([...path, column], `is not imported: ${reason}`);
  const metadata = toObject(row.metadata);
  for (const [name, reason] of Object.entries(unsupportedMetadata))
    if (!isEmpty(metadata[name])) notes.addLoss([...path, 'metadata', name], `is not imported: ${reason}`);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
}

function omitNullColumns(row: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

function getText(row: JsonObject, column: string): string | undefined {
  const value = row[column];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function getNumber(row: JsonObject, column: string): number | undefined {
  const value = row[column];
  return typeof value === 'number' ? value : undefined;
}

function getList(row: JsonObject, column: string): readonly string[] {
  return filterStrings(row[column]);
}

/** Converts a timestamp of the database to ISO 8601. A timestamp without a time zone is in UTC. */
function toTime(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const ms = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
