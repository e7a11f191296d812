import { parseArgs } from 'node:util';

export interface ImportFlags {
  readonly from: 'dial' | 'litellm';
  readonly files: readonly string[];
  /** File of DIAL's static settings. */
  readonly settings: string | undefined;
  /** Whether the import fails if anything cannot be imported. */
  readonly isStrict: boolean;
}

/** Output of `parley import --help`. */
export const importHelp = `parley import: the configuration of another gateway as one of Parley

Usage
  parley import dial FILE… [--settings FILE] [--strict]
                             configuration files of AI DIAL Core (JSON), joined in order as DIAL does
  parley import litellm FILE [--strict]
                             the config.yaml of a LiteLLM proxy

The result goes to stdout, as JSON. Secrets are not copied: keys of callers become digests, all others \${NAME}.
On stderr stands each thing that could not be carried, with its file, line and path, and what to do.

Options
  --settings FILE            static settings of DIAL, for its identity providers (none)
  --strict                   exit 1 if anything could not be carried or means something else now

Exit codes: 0 done; 1 a file cannot be read, or --strict and something is lost; 2 the command line is wrong.
docs/coming-from.md tells how to go on.
`;

const options = {
  settings: { type: 'string' },
  strict: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

/** Parses the arguments after `import`. Returns `mistake` for invalid arguments. Throws the errors of `parseArgs`. */
export function readImportFlags(args: readonly string[]): ImportFlags | 'help' | 'version' | { readonly mistake: string } {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) return 'help';
  if (values.version) return 'version';
  const [from, ...files] = positionals;
  const { settings, strict: isStrict = false } = values;
  if (from !== 'dial' && from !== 'litellm')
    return { mistake: `"import" needs what it imports, dial or litellm${from === undefined ? '' : `, and knows no "${from}"`}` };
  if (files.length === 0) return { mistake: `"import ${from}" needs ${from === 'dial' ? 'at least one' : 'a'} FILE` };
  if (from === 'litellm' && files.length > 1) return { mistake: '"import litellm" takes one FILE' };
  if (from === 'litellm' && settings !== undefined) return { mistake: '--settings is for "import dial"' };
  return { from, files, settings, isStrict };
}
