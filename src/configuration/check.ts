import { Compile } from 'typebox/compile';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { systemClock } from '#base/time/clock.ts';
import { findCheckWarnings } from '#contract/configuration/check-warnings.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { doubts } from '#contract/configuration/doubts.ts';
import { explain } from '#contract/configuration/explain.ts';
import { type Fault, formatPath, type Path } from '#contract/configuration/fault.ts';
import { ruleFaults } from '#contract/configuration/rules.ts';
import { complete } from '#contract/configuration/schema-node.ts';
import type { ConfigurationFault } from './configuration-fault.ts';
import { isReference } from './substitute.ts';

export interface Accepted {
  /** With every default put in; its objects have no prototype. It holds secrets. */
  readonly configuration: Configuration;
  /** Values that are allowed but are probably mistakes. */
  readonly warnings: readonly ConfigurationFault[];
}

export interface Refused {
  readonly faults: readonly ConfigurationFault[];
  /** Of what is right beside them; none if too much is wrong. */
  readonly warnings: readonly ConfigurationFault[];
}

/** Where a value comes from, for what is told of it. */
export interface Origin {
  /** What the entries of `keys` are called in the files, by what they are called now. */
  readonly writtenKeys: ReadonlyMap<string, string>;
  fileOf(path: Path): string;
  /** Whether `parley check` asks, which warns about more. */
  readonly isCheck?: boolean;
}

/** Ten times as fast as to explain, which a reload beside running calls should only do for a faulty configuration. */
const schema = Compile(Configuration);

const nowhere: Origin = { writtenKeys: new Map(), fileOf: () => '' };

/** Accepts a value as configuration, or says everything that is wrong with it. Takes any value; never throws for one. */
export function checkConfiguration(value: unknown, origin: Origin = nowhere): Accepted | Refused {
  const completed = complete(Configuration, value);
  const tell = (fault: Fault) => toConfigurationFault(fault, completed, origin);
  const faults = [...(schema.Check(completed) ? [] : explain(Configuration, completed)), ...ruleFaults(completed)];
  if (faults.length > 0) return { faults: faults.map(tell), warnings: doubtsBeside(faults, completed).map(tell) };
  const configuration = completed as Configuration;
  const found = [...doubts(configuration, systemClock.epochMs()), ...(origin.isCheck ? findCheckWarnings(configuration) : [])];
  return { configuration, warnings: found.map(tell) };
}

/** Entries that others may name stay known when they are left out. */
const leftOut: ReadonlySet<unknown> = new Set(['models', 'applications', 'addons']);

/** What is doubted of a configuration without its faulty entries; nothing if faults are elsewhere. */
function doubtsBeside(faults: readonly Fault[], completed: unknown): readonly Fault[] {
  if (!isJsonObject(completed) || !faults.every(({ path }) => leftOut.has(path[0]) && path.length > 1)) return [];
  const rest: JsonObject = { ...completed };
  const gone: string[] = [];
  for (const {
    path: [section = '', name = ''],
  } of faults) {
    const { [name]: _faulty, ...others } = rest[section] as JsonObject;
    rest[section] = others;
    gone.push(String(name));
  }
  const isRight = schema.Check(rest) && ruleFaults(rest).length === 0;
  return isRight ? [...doubts(rest, systemClock.epochMs(), gone)] : [];
}

/** Puts the file and the path as people write it to a fault, without the secrets that names of keys can be. */
export function toConfigurationFault({ path, ...said }: Fault, value: unknown, origin: Origin): ConfigurationFault {
  const [section, name, ...rest] = path;
  if (section !== 'keys' || typeof name !== 'string') return { file: origin.fileOf(path), path: formatPath(path), ...said };
  const written = origin.writtenKeys.get(name) ?? name;
  const file = origin.fileOf([section, written, ...rest]);
  return { file, path: formatPath([section, shownKey(name, written, value), ...rest]), ...said };
}

/** The name of an entry of `keys` if it is no secret, else its place among the entries: `***#2` is the second. */
function shownKey(name: string, written: string, value: unknown): string {
  if (isReference(written)) return written;
  const keys = isJsonObject(value) && isJsonObject(value.keys) ? value.keys : {};
  const entry = Object.hasOwn(keys, name) ? keys[name] : undefined;
  if (isJsonObject(entry) && (entry.key !== undefined || entry.sha256 !== undefined)) return name;
  return `***#${Object.keys(keys).indexOf(name) + 1}`;
}
