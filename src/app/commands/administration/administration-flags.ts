import { isHttpUrl } from '#contract/configuration/values.ts';
import { helpOptions, type Parsed } from '../command-options.ts';

/** Flags of `parley apply`, `parley diff`, and `parley export`. The field of an absent flag is undefined. */
interface ConnectionFlags {
  readonly url: string | undefined;
  readonly keyFile: string | undefined;
  /** Whether the output is JSON. */
  readonly isJson: boolean;
}

/** Flags of `parley apply` and `parley diff`. */
export interface ApplyFlags extends ConnectionFlags {
  readonly files: readonly string[];
  readonly isDryRun: boolean;
  readonly isPruning: boolean;
  /** Whether deletions need no confirmation. */
  readonly isConfirmed: boolean;
}

/** Flags of `parley export`. */
export interface ExportFlags extends ConnectionFlags {
  /** Whether secrets are references to environment variables instead of `***`. */
  readonly hasReferences: boolean;
}

/** A command that changes or reads the configuration at run time. */
export type AdministrationCommand =
  | { readonly name: 'apply' | 'diff'; readonly flags: ApplyFlags }
  | { readonly name: 'export'; readonly flags: ExportFlags };

/** Output of `--help` for `apply`, `diff`, and `export`. */
export const administrationHelp = `parley apply, diff, and export: change and read the configuration of a running service

Usage
  parley apply -f FILE… [--dry-run] [--prune [--yes]] [options]
                             creates and updates the entries of the files, all or nothing
  parley diff -f FILE… [--prune] [options]
                             prints the changes that apply would make
  parley export [--secrets env|hidden] [options]
                             prints the entries that were created at run time, as a file for apply

FILE is JSON with comments or YAML, like a configuration file, with models, applications, addons, prompts, roles, projects,
users, keys, identityProviders, and limitResets only. Later files win. \${NAME} and \${file:/path} are replaced here, before the entries are sent.

Options, with defaults in parentheses
  -f, --file FILE            file with entries. Repeatable
  --dry-run                  validates the files and prints the changes, without storing them
  --prune                    deletes the entries that the sections of the files lack, except keys that Parley created
  --yes                      deletes them without a confirmation
  --secrets env|hidden       how the export shows secrets. env: as references such as \${MODELS_GPT_UPSTREAMS_0_KEY},
                             with a list on stderr. hidden: as ***, which only the same service accepts      (env)
  --url URL                  URL of the service                       (PARLEY_URL or http://127.0.0.1:8080)
  --key-file FILE            file with your key or token                                          (PARLEY_KEY)
  --output text|json         text, or JSON for programs. The text of export is YAML                    (text)

The key needs the role admin. For diff, export, and --dry-run, the role auditor is sufficient.
Exit codes: 0 on success, 1 for errors, a rejection, or a difference that diff finds, 2 if the arguments are invalid.
See docs/administration.md.
`;

const connectionOptions = {
  url: { type: 'string' },
  'key-file': { type: 'string' },
  key: { type: 'string' },
  output: { type: 'string' },
  ...helpOptions,
} as const;

/** Options of `parley diff` for `parseArgs`. */
export const diffOptions = {
  file: { type: 'string', short: 'f', multiple: true },
  prune: { type: 'boolean' },
  ...connectionOptions,
} as const;

/** Options of `parley apply` for `parseArgs`. */
export const applyOptions = { ...diffOptions, 'dry-run': { type: 'boolean' }, yes: { type: 'boolean' } } as const;

/** Options of `parley export` for `parseArgs`. */
export const exportOptions = { secrets: { type: 'string' }, ...connectionOptions } as const;

/** Returns the flags of `apply` or `diff`. Throws an error for invalid arguments. */
export function readApplyFlags(name: 'apply' | 'diff', { values, tokens }: Parsed<typeof applyOptions>): ApplyFlags {
  const connection = readConnection(values);
  if (values.file === undefined) throw new Error(`"${name}" requires -f FILE`);
  // A shell expands -f *.yaml to one option and positional arguments.
  const files = tokens.flatMap((token) => {
    if (token.kind === 'positional') return [token.value];
    return token.kind === 'option' && token.name === 'file' ? [token.value ?? ''] : [];
  });
  const { prune: isPruning = false, yes: isConfirmed = false, 'dry-run': isDryRun = name === 'diff' } = values;
  return { ...connection, files, isDryRun, isPruning, isConfirmed };
}

/** Returns the flags of `export`. Throws an error for invalid arguments. */
export function readExportFlags({ values, positionals }: Parsed<typeof exportOptions>): ExportFlags {
  const connection = readConnection(values);
  if (positionals.length > 0) throw new Error(`"export" does not accept "${positionals[0]}". It prints to stdout`);
  const { secrets = 'env' } = values;
  if (secrets !== 'env' && secrets !== 'hidden') throw new Error('--secrets must be env or hidden');
  return { ...connection, hasReferences: secrets === 'env' };
}

function readConnection(values: Parsed<typeof connectionOptions>['values']): ConnectionFlags {
  const { url, key, output = 'text' } = values;
  if (key !== undefined)
    throw new Error('--key is not supported, because other users can see the arguments. Use PARLEY_KEY or --key-file FILE');
  if (url !== undefined && !isHttpUrl(url)) throw new Error('--url must be a URL, such as http://127.0.0.1:8080');
  if (output !== 'text' && output !== 'json') throw new Error('--output must be text or json');
  return { url, keyFile: values['key-file'], isJson: output === 'json' };
}
