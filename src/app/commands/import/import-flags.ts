import { helpOptions, type Parsed } from '../command-options.ts';

/** Flags of `parley import`. */
export interface ImportFlags {
  readonly from: 'dial' | 'litellm';
  readonly files: readonly string[];
  /** Address of a LiteLLM database. The import then reads no files. */
  readonly database?: string | undefined;
  /** File of DIAL's static settings. */
  readonly settings: string | undefined;
  /** Whether the import fails if it drops a setting or changes its meaning. */
  readonly isStrict: boolean;
}

/** Output of `parley import --help`. */
export const importHelp = `parley import: converts a DIAL or LiteLLM configuration

Usage
  parley import dial FILE… [--settings FILE] [--strict]
                             configuration files of AI DIAL Core (JSON), merged in order by the rules of DIAL
  parley import litellm FILE [--strict]
                             config.yaml of a LiteLLM proxy
  parley import litellm --database URL [--strict]
                             keys, teams, users, and budgets of its PostgreSQL database, for parley apply

The result goes to stdout as JSON. It contains no secrets: client keys become digests, other secrets become \${NAME}.
Each part that could not be imported goes to stderr, with its file, line, and path, and a suggestion.

Options, with defaults in parentheses
  --settings FILE            static settings of DIAL, for its identity providers (none)
  --database URL             postgres://… of LiteLLM. The password can be in PGPASSWORD instead
  --strict                   exit with 1 if a part could not be imported or has a different meaning

Exit codes: 0 on success, 1 if a file cannot be read, or with --strict if a part could not be imported or has a
different meaning, 2 if the arguments are invalid.
See docs/coming-from.md for the next steps.
`;

/** Options of `parley import` for `parseArgs`. */
export const importOptions = {
  settings: { type: 'string' },
  database: { type: 'string' },
  strict: { type: 'boolean' },
  ...helpOptions,
} as const;

const settingsError = '--settings is only for "import dial"';

/** Returns the flags of `import`. Throws an error for invalid arguments. */
export function readImportFlags({ values, positionals }: Parsed<typeof importOptions>): ImportFlags {
  const [from, ...files] = positionals;
  const { settings, database, strict: isStrict = false } = values;
  if (from !== 'dial' && from !== 'litellm')
    throw new Error(`"import" requires dial or litellm${from === undefined ? '' : `, not "${from}"`}`);
  if (database !== undefined) {
    if (from !== 'litellm') throw new Error('--database is only for "import litellm"');
    if (files.length > 0) throw new Error('"import litellm" requires a FILE or --database, not both');
    if (settings !== undefined) throw new Error(settingsError);
    if (!/^postgres(ql)?:\/\//.test(database)) throw new Error('--database requires an address that starts with postgres://');
    return { from, files, database, settings: undefined, isStrict };
  }
  if (files.length === 0) throw new Error(`"import ${from}" requires ${from === 'dial' ? 'at least one' : 'a'} FILE`);
  if (from === 'litellm' && files.length > 1) throw new Error('"import litellm" requires exactly one FILE');
  if (from === 'litellm' && settings !== undefined) throw new Error(settingsError);
  return { from, files, settings, isStrict };
}
