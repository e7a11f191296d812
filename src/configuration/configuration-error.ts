/** An error or warning about the configuration, for users. It contains no secrets. */
export interface ConfigurationError {
  /** Name of the file that holds the value, as it was passed. Empty if no file holds it. */
  readonly file: string;
  /** JSON path such as `models.gpt-4.upstreams[0].endpoint`, or line and column. Empty for the complete file. */
  readonly path: string;
  readonly message: string;
  /** Suggested correction. */
  readonly hint?: string;
  /** Whether the value can be intentional and permanent. The log and `parley check` report it, but node health ignores it. */
  readonly isNotice?: true;
}

/** Returns `FILE: JSON.path: message. Hint`, without the parts that are empty. */
export function formatConfigurationError({ file, path, message, hint }: ConfigurationError): string {
  const sentence = [file, path, message].filter((part) => part !== '').join(': ');
  return hint === undefined ? sentence : `${sentence}. ${hint.charAt(0).toUpperCase()}${hint.slice(1)}`;
}
