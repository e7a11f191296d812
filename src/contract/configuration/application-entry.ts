import { Compile } from 'typebox/compile';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { QuickAppForm } from '../quick-app/form.ts';
import { keepSecrets } from '../quick-app/secrets.ts';
import { applicationFaults } from './deployment-rules.ts';
import { ApplicationEntry } from './deployments.ts';
import { explain } from './explain.ts';
import { formatPath, type Issue } from './issue.ts';
import { complete, getChild, readSchema, type SchemaNode, withoutNullFields } from './schema-node.ts';

const shape = Compile(ApplicationEntry);
const maxPathChars = 200;

/** What an application is measured against. */
export interface EntryContext {
  /** Ids of the deployments that may be its model. */
  readonly ids: ReadonlySet<string>;
  /** Settings of the application as it is stored: its secrets stand for those that come back hidden. */
  readonly storedProperties: JsonObject | undefined;
}

/** An application as somebody wrote it, with all that is wrong with it. */
export interface ReadEntry {
  /** As it was written, with its secrets; to be used only if there are no faults. */
  readonly entry: ApplicationEntry;
  readonly faults: readonly Issue[];
}

/** An entry whose keys may have come in snake_case, with those of the schema. */
export function withEntryNames(input: unknown): unknown {
  return withCamelNames(readSchema(ApplicationEntry), input);
}

/** Reads an entry of `applications`; takes any value. */
export function readApplicationEntry(input: unknown, { ids, storedProperties }: EntryContext): ReadEntry {
  const value = withoutAbsent(input);
  const faults = findFaults(value, ids);
  const entry = value as ApplicationEntry;
  if (faults.length > 0 || entry.applicationProperties === undefined) return { entry, faults };
  const merged = keepSecrets(entry.applicationProperties, storedProperties);
  const inProperties = merged.faults.map((issue) => ({ ...issue, path: ['applicationProperties', ...issue.path] }));
  return { entry: { ...entry, applicationProperties: merged.properties }, faults: inProperties };
}

/** A stored entry as it can be used today. */
interface StoredEntry {
  /** Entry with all defaults of the schema. An invalid entry has only the defaults, and is open to no role. */
  readonly entry: ApplicationEntry;
  /** Path and claim of the first error. Undefined: the entry is valid. */
  readonly issue: string | undefined;
}

/** Validates a stored entry by the rules for saving one, but for whether its model exists. */
export function readStoredEntry(stored: unknown): StoredEntry {
  const [first] = findFaults(stored, undefined);
  const entry = complete(ApplicationEntry, first === undefined ? stored : { userRoles: [] }) as ApplicationEntry;
  return { entry, issue: first && `${formatPath(first.path).slice(0, maxPathChars) || 'the entry'} ${first.message}` };
}

function findFaults(value: unknown, ids: ReadonlySet<string> | undefined): readonly Issue[] {
  const completed = complete(ApplicationEntry, value);
  const rules = isJsonObject(completed) ? [...applicationFaults(completed, ids)] : [];
  return shape.Check(completed) ? rules : [...explain(ApplicationEntry, completed), ...rules];
}

/** The entry without optional fields that are null; of its settings those of a quick app. */
function withoutAbsent(input: unknown): unknown {
  const entry = withoutNullFields(ApplicationEntry, input);
  if (!isJsonObject(entry) || entry.applicationProperties === undefined) return entry;
  return { ...entry, applicationProperties: withoutNullFields(QuickAppForm, entry.applicationProperties) };
}

/** Clients of the family write `display_name` for `displayName`. */
const inSnakeCase = /^[a-z]+(?:_[a-z]+)+$/;

/**
 * The object with known keys of the schema as it writes them, if they came in snake_case; in `features` too. A key that is
 * there in both forms stays as it is, to be refused.
 */
function withCamelNames(schema: SchemaNode, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const properties = schema.properties ?? {};
  const namedFields = Object.entries(value).map(([key, field]): [string, unknown] => {
    const camel = inSnakeCase.test(key) ? key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : key;
    const name = Object.hasOwn(properties, camel) && !Object.hasOwn(value, camel) ? camel : key;
    return [name, name === 'features' ? withCamelNames(getChild(schema, name), field) : field];
  });
  return Object.fromEntries(namedFields);
}
