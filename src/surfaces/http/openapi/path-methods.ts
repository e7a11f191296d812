import { getPath } from '#base/http/url-path.ts';
import { escapePattern } from '#base/text/escape-pattern.ts';
import type { ApiOperation } from './operation.ts';

/** A method of a path, such as `/v1/deployments/{id}/limits`. */
export type MethodOfPath = Pick<ApiOperation, 'method' | 'path'>;

interface PathPattern {
  readonly form: RegExp;
  /** Number of literal characters in the pattern. */
  readonly literal: number;
  readonly methods: readonly string[];
}

/** Finds the methods of a path from the operations of the service. */
export class PathMethods {
  readonly #operations: () => readonly MethodOfPath[];
  #patterns: readonly PathPattern[] | undefined;

  /** `operations` is called when the first path is requested. */
  constructor(operations: () => readonly MethodOfPath[]) {
    this.#operations = operations;
  }

  /** Returns the methods in uppercase and sorted, including `HEAD`. Empty if no operation has this path. */
  at(url: string): readonly string[] {
    const path = getPath(url);
    this.#patterns ??= toPatterns(this.#operations());
    return this.#patterns.find(({ form }) => form.test(path))?.methods ?? [];
  }

  /** Returns whether an operation has a path below a prefix. */
  hasBelow(prefix: string): boolean {
    return this.#operations().some(({ path }) => path.startsWith(prefix));
  }
}

/** Sorts patterns by the number of literal characters, because IDs may contain slashes and a path may match several patterns. */
function toPatterns(operations: readonly MethodOfPath[]): readonly PathPattern[] {
  const byPath = new Map<string, Set<string>>();
  for (const { path, method } of operations) byPath.set(path, (byPath.get(path) ?? new Set()).add(method.toUpperCase()));
  const patterns = [...byPath].map(([path, methods]) => ({
    form: toForm(path),
    literal: path.replaceAll(/\{\w+\}/g, '').length,
    methods: toAllowed(methods),
  }));
  return patterns.sort((left, right) => right.literal - left.literal);
}

/** A path that ends with a bucket may have a trailing slash. */
function toForm(path: string): RegExp {
  const parts = path.split(/(\{\w+\})/).map((part) => {
    if (part === '{id}' || part === '{path}') return '.+';
    return part.startsWith('{') ? '[^/]+' : escapePattern(part);
  });
  // Pattern bound: a path of at most 16 kB with few parameters, built from the escaped routes of Parley.
  return new RegExp(`^${parts.join('')}${path.endsWith('{bucket}') ? '/?' : ''}$`);
}

/** Returns the methods for `Allow`. Every path also answers OPTIONS. */
export function toAllowed(methods: Iterable<string>): readonly string[] {
  const all = new Set(methods);
  if (all.has('GET')) all.add('HEAD');
  return [...all].sort();
}
