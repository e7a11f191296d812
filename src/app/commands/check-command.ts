import { type LoadOptions, loadConfiguration } from '#configuration/load.ts';
import type { Environment } from '#configuration/substitute.ts';
import { formatConfigurationError } from '#contract/configuration/checked-configuration.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';

/** Result of `parley check`. */
export interface CheckOutcome {
  /** 0 if the configuration is valid, 1 otherwise. */
  readonly exitCode: 0 | 1;
  /** One line for each error and warning. If there are no errors, the last line is a summary. */
  readonly lines: readonly string[];
}

/** Returns the output and the exit code of `parley check FILE…`. */
export async function checkCommand(
  files: readonly string[],
  environment: Environment,
  options: Pick<LoadOptions, 'allowsMissingEnvironment'> = {},
): Promise<CheckOutcome> {
  if (files.length === 0) return { exitCode: 1, lines: ['parley check: specify at least one file'] };
  const loaded = await loadConfiguration(files, environment, { ...options, isCheck: true });
  const warnings = loaded.warnings.map((warning) => `warning: ${formatConfigurationError(warning)}`);
  // If only variables or secret files are missing, `errors` is present but empty, and a warning names each of them.
  if ('errors' in loaded && loaded.errors.length === 0)
    return { exitCode: 0, lines: [...warnings, `${files.join(', ')}: no errors, apart from missing environment variables`] };
  if ('errors' in loaded) return { exitCode: 1, lines: [...loaded.errors.map(formatConfigurationError), ...warnings] };
  return { exitCode: 0, lines: [...warnings, `${files.join(', ')}: ${summarize(loaded.configuration)}`] };
}

function summarize({ models, applications, addons, keys, roles, identityProviders }: Configuration): string {
  const counts = [
    count(models, 'model'),
    count(applications, 'application'),
    count(addons, 'addon'),
    count(keys, 'key'),
    count(roles, 'role'),
    count(identityProviders, 'identity provider'),
  ];
  return `no errors (${counts.join(', ')})`;
}

function count(entries: Readonly<Record<string, unknown>>, noun: string): string {
  const entryCount = Object.keys(entries).length;
  return `${entryCount} ${noun}${entryCount === 1 ? '' : 's'}`;
}
