import { Compile } from 'typebox/compile';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { systemClock } from '#base/time/clock.ts';
import { findCheckWarnings } from '#contract/configuration/check-warnings.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { explain } from '#contract/configuration/explain.ts';
import { findConfigurationWarnings } from '#contract/configuration/find-configuration-warnings.ts';
import { formatPath, type Issue, type Path } from '#contract/configuration/issue.ts';
import { ruleFaults } from '#contract/configuration/rules.ts';
import { complete } from '#contract/configuration/schema-node.ts';
import type { ConfigurationError } from './configuration-error.ts';
import { isReference } from './substitute.ts';

export interface Accepted {
  /** With every default put in; its objects have no prototype. It holds secrets. */
  readonly configuration: Configuration;
  /** Values that are allowed but are probably mistakes. */
  readonly warnings: readonly ConfigurationError[];
}

export interface Refused {
  readonly faults: readonly ConfigurationError[];
  /** Of what is right beside them; none if too much is wrong. */
  readonly warnings: readonly ConfigurationError[];
}

/** Where a value comes from, for what is told of it. */
export interface Origin {
  /** What the entries of `keys` are called in the files, by what they are called now. */
  readonly writtenKeys: ReadonlyMap<string, string>;
  findFile(path: Path): string;
  /** Whether `parley check` asks, which warns about more. */
  readonly isCheck?: boolean;
}

/** Ten times as fast as to explain, which a reload beside running calls should only do for a faulty configuration. */
const schema = Compile(Configuration);

const nowhere: Origin = { writtenKeys: new Map(), findFile: () => '' };

/** Accepts a value as configuration, or says everything that is wrong with it. Takes any value; never throws for one. */
export function checkConfiguration(value: unknown, origin: Origin = nowhere): Accepted | Refused {
  const completed = complete(Configuration, value);
  const toError = (error: Issue) => toConfigurationError(error, completed, origin);
  const faults = [...(schema.Check(completed) ? [] : explain(Configuration, completed)), ...ruleFaults(completed)];
  if (faults.length > 0) return { faults: faults.map(toError), warnings: findRemainingWarnings(faults, completed).map(toError) };
  const configuration = completed as Configuration;
  const warnings = [
    ...findConfigurationWarnings(configuration, systemClock.epochMs()),
    ...(origin.isCheck ? findCheckWarnings(configuration) : []),
  ];
  return { configuration, warnings: warnings.map(toError) };
}

/** Entries that others may name stay known when they are left out. */
const leftOut: ReadonlySet<unknown> = new Set(['models', 'applications', 'addons']);

/** What is doubted of a configuration without its faulty entries; nothing if faults are elsewhere. */
function findRemainingWarnings(faults: readonly Issue[], completed: unknown): readonly Issue[] {
  if (!isJsonObject(completed) || !faults.every(({ path }) => leftOut.has(path[0]) && path.length > 1)) return [];
  const remaining: JsonObject = { ...completed };
  const removedNames: string[] = [];
  for (const {
    path: [section = '', name = ''],
  } of faults) {
    const { [name]: _faulty, ...remainingEntries } = remaining[section] as JsonObject;
    remaining[section] = remainingEntries;
    removedNames.push(String(name));
  }
  const isRight = schema.Check(remaining) && ruleFaults(remaining).length === 0;
  return isRight ? [...findConfigurationWarnings(remaining, systemClock.epochMs(), removedNames)] : [];
}

/** Puts the file and the path as people write it to a fault, without the secrets that names of keys can be. */
export function toConfigurationError({ path, ...details }: Issue, value: unknown, origin: Origin): ConfigurationError {
  const [section, name, ...rest] = path;
  if (section !== 'keys' || typeof name !== 'string') return { file: origin.findFile(path), path: formatPath(path), ...details };
  const writtenName = origin.writtenKeys.get(name) ?? name;
  const file = origin.findFile([section, writtenName, ...rest]);
  return { file, path: formatPath([section, toVisibleKey(name, writtenName, value), ...rest]), ...details };
}

/** The name of an entry of `keys` if it is no secret, else its place among the entries: `***#2` is the second. */
function toVisibleKey(name: string, writtenName: string, value: unknown): string {
  if (isReference(writtenName)) return writtenName;
  const keys = isJsonObject(value) && isJsonObject(value.keys) ? value.keys : {};
  const entry = Object.hasOwn(keys, name) ? keys[name] : undefined;
  if (isJsonObject(entry) && (entry.key !== undefined || entry.sha256 !== undefined)) return name;
  return `***#${Object.keys(keys).indexOf(name) + 1}`;
}
