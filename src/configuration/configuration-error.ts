/** One thing that is wrong with the configuration, as a person is told. No secret is in it. */
export interface ConfigurationError {
  /** The file that holds the value, as it was named; empty if no file does. */
  readonly file: string;
  /** JSON path such as `models.gpt-4.upstreams[0].endpoint`, else the line and column; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** The way out, if there is one to name. */
  readonly hint?: string;
  /** Whether it may be meant and stays so: the log and `parley check` name it, but the health of a node does not depend on it. */
  readonly isNotice?: true;
}

/** `FILE: JSON.path: what is wrong; the way out`, without the parts that are empty. */
export function formatConfigurationError({ file, path, message, hint }: ConfigurationError): string {
  const sentence = [file, path, message].filter((part) => part !== '').join(': ');
  return hint === undefined ? sentence : `${sentence}; ${hint}`;
}
