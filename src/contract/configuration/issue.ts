/** Where a value stands: keys of objects and indices of lists, from the top. */
export type Path = readonly (string | number)[];

/** One thing that is wrong at one place. */
export interface Issue {
  readonly path: Path;
  /** Goes on where the path ends, as in "must be a number"; never repeats a value, which may be secret. */
  readonly message: string;
  /** The way out, if there is one to name. */
  readonly hint?: string;
  /** Whether it may be meant and stays so: the log and `parley check` name it, but the health of a node does not depend on it. */
  readonly isNotice?: true;
}

const plainKey = /^[A-Za-z_$][\w$-]*$/;

/** A path as people write it: `models.gpt-4.upstreams[0].endpoint`, `models["a.b"]`. */
export function formatPath(path: Path): string {
  const parts = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return plainKey.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return parts.join('').replace(/^\./, '');
}
