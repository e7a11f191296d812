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
export const importHelp = `parley import: converts a DIAL or LiteLLM configuration

Usage
  parley import dial FILE… [--settings FILE] [--strict]
                             configuration files of AI DIAL Core (JSON), merged in order by the rules of DIAL
  parley import litellm FILE [--strict]
                             config.yaml of a LiteLLM proxy

The result goes to stdout as JSON. It contains no secrets: keys of callers become digests, other secrets become \${NAME}.
Each part that could not be imported goes to stderr, with its file, line, and path, and a suggestion.

Options
  --settings FILE            static settings of DIAL, for its identity providers (none)
  --strict                   exit with 1 if a part could not be imported or has a different meaning

Exit codes: 0 on success, 1 if a file cannot be read or --strict reports a loss, 2 if the arguments are invalid.
See docs/coming-from.md for the next steps.
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
    return { mistake: `"import" requires dial or litellm${from === undefined ? '' : `, not "${from}"`}` };
  if (files.length === 0) return { mistake: `"import ${from}" requires ${from === 'dial' ? 'at least one' : 'a'} FILE` };
  if (from === 'litellm' && files.length > 1) return { mistake: '"import litellm" requires exactly one FILE' };
  if (from === 'litellm' && settings !== undefined) return { mistake: '--settings is only for "import dial"' };
  return { from, files, settings, isStrict };
}
