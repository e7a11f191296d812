import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { QuickAppForm } from '../quick-app/form.ts';
import { restoreSecrets } from '../quick-app/secrets.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { findApplicationIssues } from './checks/deployment-rules.ts';
import { ApplicationEntry } from './deployments.ts';
import { explain } from './explain.ts';
import { formatPath, type Issue } from './issue.ts';
import { complete, getChild, readSchema, type SchemaNode, withoutNullFields } from './schema-node.ts';

const shape = compileShape(ApplicationEntry);
const maxPathChars = 200;

/** Context for validating an application. */
export interface EntryContext {
  /** IDs of the deployments that can be the model of the application. */
  readonly ids: ReadonlySet<string>;
  /** Stored settings of the application. Their secrets replace masked secrets in the input. */
  readonly storedProperties: JsonObject | undefined;
}

/** Application entry of a client, with its errors. */
export interface ParsedEntry {
  /** The entry with its secrets. Use it only if there are no errors. */
  readonly entry: ApplicationEntry;
  readonly errors: readonly Issue[];
}

/** Converts known keys of an entry from snake_case to the names of the schema. */
export function withEntryNames(input: unknown): unknown {
  return withCamelNames(readSchema(ApplicationEntry), input);
}

/** Validates an entry of `applications`. Accepts any value. */
export function readApplicationEntry(input: unknown, { ids, storedProperties }: EntryContext): ParsedEntry {
  const value = withoutAbsent(input);
  const errors = findErrors(value, ids);
  const entry = value as ApplicationEntry;
  if (errors.length > 0 || entry.applicationProperties === undefined) return { entry, errors };
  const merged = restoreSecrets(entry.applicationProperties, storedProperties);
  const inProperties = merged.errors.map((issue) => ({ ...issue, path: ['applicationProperties', ...issue.path] }));
  return { entry: { ...entry, applicationProperties: merged.properties }, errors: inProperties };
}

/** A stored entry with the result of its validation. */
interface StoredEntry {
  /** Entry with all defaults of the schema. An invalid entry has only the defaults, and no role can use it. */
  readonly entry: ApplicationEntry;
  /** Path and message of the first error. Undefined if the entry is valid. */
  readonly issue: string | undefined;
}

/** Validates a stored entry by the rules for saving one, but does not check whether its model exists. */
export function readStoredEntry(stored: unknown): StoredEntry {
  const [first] = findErrors(stored, undefined);
  const entry = complete(ApplicationEntry, first === undefined ? stored : { userRoles: [] }) as ApplicationEntry;
  return { entry, issue: first && `${formatPath(first.path).slice(0, maxPathChars) || 'the entry'} ${first.message}` };
}

function findErrors(value: unknown, ids: ReadonlySet<string> | undefined): readonly Issue[] {
  const completed = complete(ApplicationEntry, value);
  const rules = isJsonObject(completed) ? [...findApplicationIssues(completed, ids)] : [];
  return shape.Check(completed) ? rules : [...explain(ApplicationEntry, completed), ...rules];
}

/** Returns the entry without optional fields that are null. In `applicationProperties`, omits only fields of a quick app. */
function withoutAbsent(input: unknown): unknown {
  const entry = withoutNullFields(ApplicationEntry, input);
  if (!isJsonObject(entry) || entry.applicationProperties === undefined) return entry;
  return { ...entry, applicationProperties: withoutNullFields(QuickAppForm, entry.applicationProperties) };
}

/** Some clients write `display_name` for `displayName`. */
const snakeCasePattern = /^[a-z]+(?:_[a-z]+)+$/;

/**
 * Converts known keys from snake_case to the names of the schema, also in `features`. If both forms of a key are present, they
 * stay unchanged, and validation rejects them.
 */
function withCamelNames(schema: SchemaNode, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const properties = schema.properties ?? {};
  const namedFields = Object.entries(value).map(([key, field]): [string, unknown] => {
    const camel = snakeCasePattern.test(key) ? key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : key;
    const name = Object.hasOwn(properties, camel) && !Object.hasOwn(value, camel) ? camel : key;
    return [name, name === 'features' ? withCamelNames(getChild(schema, name), field) : field];
  });
  return Object.fromEntries(namedFields);
}
