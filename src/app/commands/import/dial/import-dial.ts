import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { defaultRole } from '#contract/roles.ts';
import { ForeignObject, getValueAt } from '../foreign-object.ts';
import { type Source, SourceError } from '../read-source.ts';
import type { ImportContext, Notes } from '../result.ts';
import { importAddons, importApplications } from './applications.ts';
import { importIdentityProviders } from './identity-providers.ts';
import { importKeys } from './keys.ts';
import { importModels } from './models.ts';

interface DialFiles {
  readonly sources: readonly Source[];
  readonly settings: Source | undefined;
  readonly settingsNotes: Notes;
}

const sections = ['models', 'applications', 'addons', 'keys', 'roles'] as const;

const dropReasons = {
  routes: null,
  interceptors: 'Parley has no interceptors, so calls skip them',
  globalInterceptors: 'Parley has no interceptors, so calls skip them',
  assistant: 'create a quick app for each assistant, with its prompt as `instructions` (docs/quick-apps.md)',
  toolsets: 'name the server in the `mcp_toolset` of the quick apps that use it (docs/quick-apps.md)',
  translators: 'Parley translates between protocols automatically',
  retriableErrorCodes: 'Parley retries after 429, 502, 503, 504, and connection failures',
  catalogSchemas: 'Parley has no catalog',
  catalogProperties: 'Parley has no catalog',
  tracing: 'set OTEL_EXPORTER_OTLP_ENDPOINT (docs/operations.md)',
  defaultLocale: 'texts have one language in Parley',
};

/** Imports configuration files of DIAL, merged by DIAL's rules. */
export function importDial({ sources, settings, settingsNotes }: DialFiles, context: ImportContext): void {
  const overwrites = getValueAt(settings?.value, ['config', 'jsonMergeStrategy', 'overwriteArrays']) === true;
  const value = sources.reduce<JsonObject>((base, { value: overrides }) => merge(base, overrides, !overwrites), {});
  requireSections(value, sources);
  const root = new ForeignObject(value, [], { notes: context.notes, usesSnakeCase: false });
  importModels(root, context);
  importApplications(root, context);
  importAddons(root, context);
  importRoles(root, context);
  importKeys(root, context);
  for (const [, route] of root.namedObjects('routes'))
    context.notes.addLoss(route.path, 'is not imported: Parley has no routes', 'serve it with the proxy in front of Parley');
  requireConsentOfDirectCalls(root, context);
  reportSchedule(root, context.notes);
  root.reportUnread(dropReasons, 'DIAL');
  if (settings === undefined) return;
  const settingsRoot = new ForeignObject(settings.value, [], { notes: settingsNotes, usesSnakeCase: false });
  importIdentityProviders(settingsRoot, { ...context, notes: settingsNotes });
  settingsRoot.reportUnread(settingsDropReasons, 'the settings of DIAL');
}

/** In DIAL, `consentRequired` also applies to the user's own calls. Parley has a separate setting for it. */
function requireConsentOfDirectCalls(root: ForeignObject, { notes, result }: ImportContext): void {
  const [first] = root
    .namedObjects('applications')
    .filter(([, application]) => application.object('features')?.flag('consentRequired'));
  if (first === undefined) return;
  result.configuration.consent = { directCalls: 'require' };
  const message = 'also applies to direct calls of users, as in DIAL, so the result sets `consent.directCalls` to `require`';
  notes.addNotice([...first[1].path, 'features', 'consentRequired'], message);
}

/**
 * Reports a schedule that differs from Parley's, where limits reset at midnight UTC and weeks start on Monday. These are also the
 * defaults of DIAL.
 */
function reportSchedule(root: ForeignObject, notes: Notes): void {
  const schedule = root.object('rateLimitSchedule');
  if (schedule === undefined) return;
  const isSame = (key: string, pattern: RegExp) => pattern.test(schedule.text(key) ?? '');
  const isSupported =
    isSame('timezone', /^(UTC|Etc\/UTC|GMT|Z|)$/i) &&
    isSame('weekStartDay', /^(mon.*|)$/i) &&
    isSame('resetTime', /^(00:00.*|)$/);
  if (!isSupported) notes.addLoss(schedule.path, 'is not imported: limits reset at midnight UTC, and weeks start on Monday');
}

/**
 * Throws SourceError if a section is not an object or if no section exists, because the file is then not a DIAL configuration.
 */
function requireSections(value: JsonObject, sources: readonly Source[]): void {
  for (const section of sections) {
    const sectionValue = value[section] ?? {};
    if (isJsonObject(sectionValue)) continue;
    const source = sources.findLast((candidate) => Object.hasOwn(candidate.value, section));
    const { line } = source?.findLine([section]) ?? { line: 1 };
    throw new SourceError({ file: `${source?.file}:${line}`, path: section, message: 'must be an object' });
  }
  if (sections.every((section) => value[section] === undefined))
    throw new SourceError({
      file: sources.at(-1)?.file ?? '',
      path: '',
      message: `is not a DIAL configuration: it has no ${sections.join(', ')}`,
    });
}

/** Merges `overrides` into `base` by the rules of DIAL. `appendsArrays` is whether arrays are concatenated instead of replaced. */
function merge(base: JsonObject, overrides: JsonObject, appendsArrays: boolean): JsonObject {
  const merged: JsonObject = Object.assign(Object.create(null), base);
  for (const [key, value] of Object.entries(overrides)) {
    const before = merged[key];
    if (isJsonObject(before) && isJsonObject(value)) merged[key] = merge(before, value, appendsArrays);
    else merged[key] = appendsArrays && Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  return merged;
}

type Windows = Readonly<Record<string, number>>;

interface Role {
  readonly source: ForeignObject;
  /** Limits by model. */
  readonly limits: Map<string, Windows>;
  readonly costLimit: Windows | undefined;
}

const tokenWindows = ['minute', 'day', 'week', 'month', 'requestHour', 'requestDay', 'requestMinute'] as const;
const costWindows = ['day', 'week', 'month'] as const;

/**
 * Imports the entries of `roles`. If DIAL would take a limit from the role `default`, the limit is written into the role, because
 * a role without an entry has no limit in Parley. Limits of other deployments than models are left out, because DIAL does not
 * enforce them.
 */
function importRoles(root: ForeignObject, context: ImportContext): void {
  const models = new Set(root.namedObjects('models').map(([id]) => id));
  const roles = new Map(root.namedObjects('roles').map(([name, source]) => [name, toRole(source, models, context)]));
  const fallbackRole = roles.get(defaultRole);
  for (const [name, role] of roles) {
    if (name !== defaultRole) reportMoreGenerous(role, [...roles.values()], { models, fallbackRole, context });
    const limits = name === defaultRole ? role.limits : new Map([...(fallbackRole?.limits ?? []), ...role.limits]);
    const costLimit = role.costLimit ?? fallbackRole?.costLimit;
    const entry: JsonObject = {};
    if (limits.size > 0) entry.limits = context.result.withOrigin(role.source.at('limits'), Object.fromEntries(limits));
    if (costLimit !== undefined) entry.costLimit = context.result.withOrigin(role.source.at('costLimit'), { ...costLimit });
    context.result.put('roles', name, role.source.path, entry);
  }
}

function toRole(source: ForeignObject, models: ReadonlySet<string>, { notes, result }: ImportContext): Role {
  const limits = new Map<string, Windows>();
  for (const [id, limit] of source.namedObjects('limits')) {
    const windows = toWindows(limit, tokenWindows);
    limit.reportUnread({}, 'a limit of DIAL');
    if (hasModel(id, result)) limits.set(id, windows);
    else if (models.has(id)) continue;
    else if (Object.keys(windows).length > 0)
      notes.addLoss(
        limit.path,
        'is left out: it is not for a model, and DIAL limits only models',
        'write it into the result if you want to enforce it',
      );
  }
  const cost = source.object('costLimit');
  const costLimit = cost && toWindows(cost, costWindows);
  cost?.reportUnread({ minute: 'Parley limits costs per day, week, and month' }, 'a cost limit of DIAL');
  source.reportUnread({ name: null, share: 'Parley has no limits for sharing' }, 'a role of DIAL');
  return { source, limits, costLimit };
}

/** Returns whether the result contains the model. A note at the model itself covers models that are left out. */
function hasModel(id: string, { configuration }: ImportContext['result']): boolean {
  return isJsonObject(configuration.models) && Object.hasOwn(configuration.models, id);
}

/** Returns the numeric limits. DIAL also accepts numbers as text, and uses its largest number for "no limit". */
function toWindows(limit: ForeignObject, keys: readonly string[]): Windows {
  return Object.fromEntries(Object.entries(limit.numbers(keys)).filter(([, total]) => total <= Number.MAX_SAFE_INTEGER));
}

interface RoleContext {
  readonly models: ReadonlySet<string>;
  readonly fallbackRole: Role | undefined;
  readonly context: ImportContext;
}

/**
 * Reports roles that become more generous. In DIAL, a role without an entry for a model is ignored if another role of the caller
 * has one. In Parley, the most generous role applies.
 */
function reportMoreGenerous(role: Role, roles: readonly Role[], { models, fallbackRole, context }: RoleContext): void {
  const affectedModels = [...models].filter((id) => {
    if (role.limits.has(id)) return false;
    const defaultLimits = fallbackRole?.limits.get(id) ?? {};
    return roles.some((otherRole) => otherRole !== fallbackRole && isMoreGenerous(defaultLimits, otherRole.limits.get(id)));
  });
  if (affectedModels.length === 0) return;
  const names = affectedModels.slice(0, 5).join(', ') + (affectedModels.length > 5 ? ', …' : '');
  context.notes.addLoss(
    role.source.path,
    `is more generous than in DIAL for ${names}: the most generous role applies, even if this role has no limit or inherits it from default`,
    'set its own limits if its users also have other roles',
  );
}

/** Returns whether `windows` allows more than `otherWindows` in some window. */
function isMoreGenerous(windows: Windows, otherWindows: Windows | undefined): boolean {
  return Object.entries(otherWindows ?? {}).some(([window, total]) => (windows[window] ?? Number.POSITIVE_INFINITY) > total);
}

/** Replacements for DIAL's static settings, which are not part of a Parley configuration. */
const settingsDropReasons = {
  config: null,
  server: 'use --host and --port',
  client: 'Parley manages its connections',
  vertx: 'Parley does not use it',
  redis: 'set PARLEY_REDIS_URL if several nodes share state (docs/deploy.md)',
  storage: 'set PARLEY_FILES_URL, and move the stored files (docs/deploy.md)',
  encryption: 'set PARLEY_SECRET (Parley cannot decrypt data that DIAL encrypted)',
  resources: 'stored files have separate limits (docs/files.md)',
  invitations: 'Parley shares applications with users and roles, and chats with links, without invitations',
  perRequestApiKey: 'a per-request key expires with its call',
  access: 'administrators have the role `admin`',
  analytics: 'Parley stores usage by user, deployment, and day (docs/administration.md)',
  toolsets: 'quick apps name their servers in `mcp_toolset`',
  apiKeyValidation: 'name your proxies in `security.trustedProxies`',
  asyncTaskExecutor: null,
  identityProviders: null,
};
