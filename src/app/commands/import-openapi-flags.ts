import type { Choice } from '#tools/openapi/to-toolsets.ts';
import { helpOptions, type Parsed } from './parsed.ts';

/** Flags of `parley import-openapi`. */
export interface OpenapiImportFlags extends Choice {
  /** File path or URL. */
  readonly document: string;
  /** Base URL of relative servers in a file. */
  readonly base: string | undefined;
  /** Whether the document may come from private and local addresses. */
  readonly isPrivateAllowed: boolean;
}

/** Options of `parley import-openapi` for `parseArgs`. */
export const openapiOptions = {
  include: { type: 'string', multiple: true },
  exclude: { type: 'string', multiple: true },
  base: { type: 'string' },
  'allow-private': { type: 'boolean' },
  ...helpOptions,
} as const;

/** Returns the flags of `import-openapi`. Throws an error for invalid arguments. */
export function readOpenapiFlags({ values, positionals }: Parsed<typeof openapiOptions>): OpenapiImportFlags {
  const [document, ...extraArgs] = positionals;
  if (document === undefined || extraArgs.length > 0) throw new Error('"import-openapi" requires exactly one FILE or URL');
  const { include, exclude, base, 'allow-private': isPrivateAllowed = false } = values;
  return { document, base, isPrivateAllowed, include: splitNames(include), exclude: splitNames(exclude) };
}

function splitNames(lists: readonly string[] | undefined): readonly string[] | undefined {
  return lists?.flatMap((list) => list.split(',').map((name) => name.trim())).filter((name) => name !== '');
}
