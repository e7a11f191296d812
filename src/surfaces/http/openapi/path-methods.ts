import { getPath } from '#base/http/url-path.ts';
import { escapePattern } from '#base/text/escape-pattern.ts';
import type { ApiOperation } from './operation.ts';

/** A method of a path, such as `/v1/deployments/{id}/limits`. */
export type MethodOfPath = Pick<ApiOperation, 'method' | 'path'>;

interface PathPattern {
  readonly form: RegExp;
  /** How much of the pattern is literal. */
  readonly literal: number;
  readonly methods: readonly string[];
}

/** The methods that a path itself takes, as the operations of the service say. */
export class PathMethods {
  readonly #operations: () => readonly MethodOfPath[];
  #patterns: readonly PathPattern[] | undefined;

  /** The operations are asked for when the first path is. */
  constructor(operations: () => readonly MethodOfPath[]) {
    this.#operations = operations;
  }

  /** In capitals and in order, with `HEAD`; empty for a path that no operation has. */
  at(url: string): readonly string[] {
    const path = getPath(url);
    this.#patterns ??= toPatterns(this.#operations());
    return this.#patterns.find(({ form }) => form.test(path))?.methods ?? [];
  }

  /** Whether an operation is somewhere below a prefix. */
  hasBelow(prefix: string): boolean {
    return this.#operations().some(({ path }) => path.startsWith(prefix));
  }
}

/** The most literal first: ids may hold slashes, so that an address may follow several patterns. */
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

/** The list of a bucket may end with a slash. */
function toForm(path: string): RegExp {
  const parts = path.split(/(\{\w+\})/).map((part) => {
    if (part === '{id}' || part === '{path}') return '.+';
    return part.startsWith('{') ? '[^/]+' : escapePattern(part);
  });
  // Pattern bound: a path of at most 16 kB with few parameters, built from the escaped routes of Parley.
  return new RegExp(`^${parts.join('')}${path.endsWith('{bucket}') ? '/?' : ''}$`);
}

/** What `Allow` lists for a path that takes these methods; OPTIONS is answered everywhere. */
export function toAllowed(methods: Iterable<string>): readonly string[] {
  const all = new Set(methods);
  if (all.has('GET')) all.add('HEAD');
  return [...all].sort();
}
