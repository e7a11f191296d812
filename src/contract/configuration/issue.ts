/** Path of a value: keys of objects and indexes of lists, from the root. */
export type Path = readonly (string | number)[];

/** An error or warning at one path. */
export interface Issue {
  readonly path: Path;
  /**
   * Continuation of a sentence that starts with the path, as in "must be a number". Must not quote a value that can be
   * secret.
   */
  readonly message: string;
  /** Suggested correction. */
  readonly hint?: string;
  /** Whether the value can be intentional and permanent. The log and `parley check` report the issue. Node health ignores it. */
  readonly isNotice?: true;
}

const plainKey = /^[A-Za-z_$][\w$-]*$/;

/** Formats a path: `models.gpt-4.upstreams[0].endpoint`, `models["a.b"]`. */
export function formatPath(path: Path): string {
  const parts = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return plainKey.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return parts.join('').replace(/^\./, '');
}
