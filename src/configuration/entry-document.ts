import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { entryKindNames, entryKinds, findKind } from '#contract/administration/entry-kinds.ts';
import type { ConfigurationError } from '#contract/configuration/checked-configuration.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { didYouMean } from '#contract/configuration/did-you-mean.ts';
import { formatPath, type Issue, type Path } from '#contract/configuration/issue.ts';
import { maskedSecret } from '#contract/configuration/schema-node.ts';
import { readFiles, readSecretFile } from './load.ts';
import { type Environment, escapeReferences, hasReference, substitute } from './substitute.ts';

/** Merged entries of files, without references. They contain secrets. */
export interface EntryDocument {
  readonly value: JsonObject;
  /** Returns the file that holds the value at a formatted path. */
  findFile(path: string): string;
}

/**
 * Reads files with entries, merges them in order, and replaces their references. If a file cannot be read or parsed, returns only
 * the errors of this step. Otherwise returns the errors in references, and an error for each section that cannot contain entries.
 */
export async function readEntryDocument(
  files: readonly string[],
  environment: Environment,
): Promise<EntryDocument | { readonly errors: readonly ConfigurationError[] }> {
  const merged = await readFiles(files);
  if ('errors' in merged) return merged;
  const { $schema: _schema, ...source } = merged.value;
  const { value, errors, writtenKeys } = substitute(source, environment, { readFile: readSecretFile });
  const issues = [...findInvalidSections(source), ...findSecretNames(writtenKeys.values()), ...errors];
  if (issues.length > 0)
    return { errors: issues.map(({ path, ...issue }) => ({ file: merged.findFile(path), path: formatPath(path), ...issue })) };
  return { value: value as JsonObject, findFile: merged.findFileAt };
}

const sections = entryKindNames.map((kind) => entryKinds[kind].section);

function findInvalidSections(document: JsonObject): readonly Issue[] {
  const settings = Object.keys(Configuration.properties);
  return Object.keys(document)
    .filter((section) => findKind(section) === undefined)
    .map((section) =>
      settings.includes(section)
        ? {
            path: [section],
            message: 'cannot be changed at run time',
            hint: `keep it in the configuration files of the service. Sections with entries are ${sections.join(', ')}`,
          }
        : { path: [section], message: 'is not a section of the configuration', ...didYouMean(section, sections) },
    );
}

/** In a configuration file, the name of a key can be the secret. At run time, the name is the ID of the key, and visible. */
function findSecretNames(names: Iterable<string>): readonly Issue[] {
  return [...names].filter(hasReference).map((name) => ({
    path: ['keys', name],
    message: 'has a reference as its name, but the name is the ID of the key and visible',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the hint shows a reference
    hint: 'choose a name, and write the secret as "key": "${NAME}"',
  }));
}

/** A document whose secrets are references to environment variables. */
export interface ReferencedDocument {
  readonly value: unknown;
  /** Formatted paths of the secrets by the names of their variables. */
  readonly variables: ReadonlyMap<string, string>;
}

/**
 * Escapes each `${` of an exported document, because it is literal text at run time. If `hasReferences` is set, replaces each
 * `***` with a reference such as `${MODELS_GPT_UPSTREAMS_0_KEY}`.
 */
export function toReferences(document: JsonObject, { hasReferences }: { readonly hasReferences: boolean }): ReferencedDocument {
  const variables = new Map<string, string>();
  const convert = (value: unknown, path: Path): unknown => {
    if (value === maskedSecret && hasReferences) return `\${${addVariable(variables, path)}}`;
    if (typeof value === 'string') return escapeReferences(value);
    if (Array.isArray(value)) return value.map((item, index) => convert(item, [...path, index]));
    if (!isJsonObject(value)) return value;
    const isKeys = path.length === 1 && path[0] === 'keys';
    const copy: JsonObject = Object.create(null);
    for (const [name, member] of Object.entries(value))
      copy[isKeys ? escapeReferences(name) : name] = convert(member, [...path, name]);
    return copy;
  };
  return { value: convert(document, []), variables };
}

/** Adds a variable for the secret at a path, and returns its name. */
function addVariable(variables: Map<string, string>, path: Path): string {
  const words = path.join('_').replaceAll(/([a-z\d])([A-Z])/g, '$1_$2');
  const name = words.toUpperCase().replaceAll(/[^A-Z\d]+/g, '_');
  let unique = name;
  for (let count = 2; variables.has(unique); count += 1) unique = `${name}_${count}`;
  variables.set(unique, formatPath(path));
  return unique;
}
