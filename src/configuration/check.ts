import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { systemClock } from '#base/time/clock.ts';
import { toVisibleKeyName } from '#contract/configuration/access.ts';
import type {
  ConfigurationError,
  Origin,
  RejectedConfiguration,
  ValidConfiguration,
} from '#contract/configuration/checked-configuration.ts';
import { findCheckWarnings } from '#contract/configuration/checks/check-warnings.ts';
import { findConfigurationWarnings } from '#contract/configuration/checks/find-configuration-warnings.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { explain } from '#contract/configuration/explain.ts';
import { formatPath, type Issue } from '#contract/configuration/issue.ts';
import { findRuleIssues } from '#contract/configuration/rules.ts';
import { complete } from '#contract/configuration/schema-node.ts';
import { compileShape } from '#contract/schemas/compile-shape.ts';
import { isReference } from './substitute.ts';

/** The compiled check is ten times faster than `explain`, so a reload calls `explain` only for an invalid configuration. */
const schema = compileShape(Configuration);

const noOrigin: Origin = { writtenKeys: new Map(), findFile: () => '' };

/** Checks any value. Returns it as a configuration, or returns all errors. Does not throw. */
export function checkConfiguration(value: unknown, origin: Origin = noOrigin): ValidConfiguration | RejectedConfiguration {
  const completed = complete(Configuration, value);
  const toError = (error: Issue) => toConfigurationError(error, completed, origin);
  const errors = [...(schema.Check(completed) ? [] : explain(Configuration, completed)), ...findRuleIssues(completed)];
  if (errors.length > 0) return { errors: errors.map(toError), warnings: findRemainingWarnings(errors, completed).map(toError) };
  const configuration = completed as Configuration;
  const warnings = [
    ...findConfigurationWarnings(configuration, systemClock.epochMs()),
    ...(origin.isCheck ? findCheckWarnings(configuration) : []),
  ];
  return { configuration, warnings: warnings.map(toError), origin };
}

/**
 * Returns the warnings about a configuration without its invalid entries. References to removed deployments and addons cause no
 * warnings.
 */
function findRemainingWarnings(errors: readonly Issue[], completed: unknown): readonly Issue[] {
  if (!isJsonObject(completed)) return [];
  const remaining = complete(Configuration, withoutInvalid(errors, completed));
  if (!schema.Check(remaining) || findRuleIssues(remaining).length > 0) return [];
  const removedPaths = errors.map(({ path }) => path);
  return [...findConfigurationWarnings(remaining, systemClock.epochMs(), removedPaths)];
}

/** Returns the configuration without the entries or fields of sections that have errors. */
function withoutInvalid(errors: readonly Issue[], completed: JsonObject): JsonObject {
  const remaining: JsonObject = { ...completed };
  for (const [section, sectionErrors] of Map.groupBy(errors, ({ path }) => String(path[0]))) {
    const value = completed[section];
    const names = new Set(sectionErrors.map(({ path }) => path[1]));
    delete remaining[section];
    if (!isJsonObject(value) || names.has(undefined)) continue;
    const entries = Object.entries(value).filter(([name]) => !names.has(name));
    remaining[section] = Object.assign(Object.create(null), Object.fromEntries(entries));
  }
  return remaining;
}

/** Adds the file and the formatted path to an error. Hides `keys` entry names that are secrets. */
export function toConfigurationError({ path, ...details }: Issue, value: unknown, origin: Origin): ConfigurationError {
  const [section, name, ...innerPath] = path;
  if (section !== 'keys' || typeof name !== 'string') return { file: origin.findFile(path), path: formatPath(path), ...details };
  const writtenName = origin.writtenKeys.get(name) ?? name;
  const file = origin.findFile([section, writtenName, ...innerPath]);
  return { file, path: formatPath([section, toVisibleKey(name, writtenName, value), ...innerPath]), ...details };
}

/** Returns the written name of a `keys` entry, or its position if the name is a secret. */
function toVisibleKey(name: string, writtenName: string, value: unknown): string {
  if (isReference(writtenName)) return writtenName;
  return toVisibleKeyName(toObject(toObject(value).keys), name);
}
