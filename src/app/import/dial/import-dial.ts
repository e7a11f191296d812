import { isJsonObject, type JsonObject } from '#base/json.ts';
import { ForeignObject } from '../foreign-object.ts';
import type { Notes } from '../notes.ts';
import { type Source, SourceFault } from '../read-source.ts';
import type { ImportTools } from '../tools.ts';
import { importAddons } from './addons.ts';
import { importApplications } from './applications.ts';
import { importIdentityProviders } from './identity-providers.ts';
import { importKeys } from './keys.ts';
import { importModels } from './models.ts';
import { importRoles } from './roles.ts';
import { tellSettings } from './settings.ts';

interface DialFiles {
  readonly sources: readonly Source[];
  readonly settings: Source | undefined;
  readonly settingsNotes: Notes;
}

const sections = ['models', 'applications', 'addons', 'keys', 'roles'] as const;

const fates = {
  routes: null,
  interceptors: 'Parley has no interceptors; calls of deployments that name one pass without it',
  globalInterceptors: 'Parley has no interceptors; all calls pass without them',
  assistant: 'make a quick app of each assistant, with its prompt as `instructions` (docs/quick-apps.md)',
  toolsets: 'name the server in the `mcp_toolset` of the quick apps that use it (docs/quick-apps.md)',
  translators: 'Parley translates between dialects by itself',
  retriableErrorCodes: 'Parley tries again after 429, 502, 503 and 504 and connection failures',
  catalogSchemas: 'Parley has no catalog',
  catalogProperties: 'Parley has no catalog',
  tracing: 'set OTEL_EXPORTER_OTLP_ENDPOINT (docs/operations.md)',
  defaultLocale: 'texts have one language here',
};

/** Configuration files of DIAL, joined as DIAL joins them, as a configuration of Parley. */
export function importDial({ sources, settings, settingsNotes }: DialFiles, tools: ImportTools): void {
  const overwrites = valueAt(settings?.value, ['config', 'jsonMergeStrategy', 'overwriteArrays']) === true;
  const value = sources.reduce<JsonObject>((under, { value: over }) => join(under, over, !overwrites), {});
  requireSections(value, sources);
  const root = new ForeignObject(value, [], { notes: tools.notes, isSnake: false });
  importModels(root, tools);
  importApplications(root, tools);
  importAddons(root, tools);
  importRoles(root, tools);
  importKeys(root, tools);
  for (const [, route] of root.named('routes'))
    tools.notes.lose(route.path, 'is not carried: Parley has no routes', 'serve it by the proxy before Parley');
  requireConsentOfDirectCalls(root, tools);
  tellSchedule(root, tools.notes);
  root.leave(fates, 'DIAL');
  if (settings === undefined) return;
  const settingsRoot = new ForeignObject(settings.value, [], { notes: settingsNotes, isSnake: false });
  importIdentityProviders(settingsRoot, { ...tools, notes: settingsNotes });
  tellSettings(settingsRoot);
}

/** In DIAL, `consentRequired` also applies to the user's own calls. Parley has a separate setting for it. */
function requireConsentOfDirectCalls(root: ForeignObject, { notes, result }: ImportTools): void {
  const [first] = root.named('applications').filter(([, application]) => application.object('features')?.flag('consentRequired'));
  if (first === undefined) return;
  result.configuration.consent = { directCalls: 'require' };
  const message =
    'also applies to calls that users make themselves, as in DIAL: `consent.directCalls` is `require` in the result';
  notes.mention([...first[1].path, 'features', 'consentRequired'], message);
}

/** Limits begin anew at midnight in UTC and weeks on Monday, which is also what DIAL does unless it is told otherwise. */
function tellSchedule(root: ForeignObject, notes: Notes): void {
  const schedule = root.object('rateLimitSchedule');
  if (schedule === undefined) return;
  const isSame = (key: string, pattern: RegExp) => pattern.test(schedule.text(key) ?? '');
  const isOurs =
    isSame('timezone', /^(UTC|Etc\/UTC|GMT|Z|)$/i) &&
    isSame('weekStartDay', /^(mon.*|)$/i) &&
    isSame('resetTime', /^(00:00.*|)$/);
  if (!isOurs) notes.lose(schedule.path, 'is not carried: windows of limits begin at midnight UTC, weeks on Monday');
}

/** A section that is no object makes the file another kind of file. */
function requireSections(value: JsonObject, sources: readonly Source[]): void {
  for (const section of sections) {
    const found = value[section] ?? {};
    if (isJsonObject(found)) continue;
    const source = sources.findLast((each) => Object.hasOwn(each.value, section));
    const { line } = source?.lineOf([section]) ?? { line: 1 };
    throw new SourceFault({ file: `${source?.file}:${line}`, path: section, message: 'must be an object' });
  }
  if (sections.every((section) => value[section] === undefined))
    throw new SourceFault({
      file: sources.at(-1)?.file ?? '',
      path: '',
      message: `is no configuration of DIAL: it has none of ${sections.join(', ')}`,
    });
}

function join(under: JsonObject, over: JsonObject, appends: boolean): JsonObject {
  const joined: JsonObject = Object.assign(Object.create(null), under);
  for (const [key, value] of Object.entries(over)) {
    const before = joined[key];
    if (isJsonObject(before) && isJsonObject(value)) joined[key] = join(before, value, appends);
    else joined[key] = appends && Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  return joined;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, key) => (isJsonObject(found) ? found[key] : undefined), value);
}
