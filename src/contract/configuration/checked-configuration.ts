import { capitalize } from '#base/text/sentence.ts';
import type { Configuration } from './configuration.ts';
import type { Issue, Path } from './issue.ts';

export interface ValidConfiguration {
  /** Configuration with all defaults. Its objects have no prototype. It contains secrets. */
  readonly configuration: Configuration;
  readonly warnings: readonly ConfigurationError[];
  readonly origin: Origin;
}

export interface RejectedConfiguration {
  readonly errors: readonly ConfigurationError[];
  /** Warnings about the remaining entries. Empty if the errors are not limited to single entries. */
  readonly warnings: readonly ConfigurationError[];
}

/** Source of the values, for messages about them. */
export interface Origin {
  /** Names of the `keys` entries in the files, by their names after substitution. */
  readonly writtenKeys: ReadonlyMap<string, string>;
  findFile(path: Path): string;
  /** Whether the caller is `parley check`. The result then has additional warnings. */
  readonly isCheck?: boolean;
}

/** An error or warning about the configuration, for users. It contains no secrets. */
export interface ConfigurationError extends Omit<Issue, 'path'> {
  /** Name of the file that holds the value, as it was passed. Empty if no file holds it. */
  readonly file: string;
  /** JSON path such as `models.gpt-4.upstreams[0].endpoint`, or line and column. Empty for the complete file. */
  readonly path: string;
}

/** Returns `FILE: JSON.path: message. Hint`, without the parts that are empty. */
export function formatConfigurationError({ file, path, message, hint }: ConfigurationError): string {
  const sentence = [file, path, message].filter((part) => part !== '').join(': ');
  return hint === undefined ? sentence : `${sentence}. ${capitalize(hint)}`;
}
