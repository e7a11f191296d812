import { parseArgs } from 'node:util';

/** Flags of `parley evaluate`. Undefined if a flag is absent, so that the environment or a default applies. */
export interface EvaluateFlags {
  /** Path in the user's bucket, or the complete id, as given. */
  readonly application: string;
  readonly cases: string | undefined;
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly version: number | undefined;
  readonly against: number | undefined;
  readonly parallel: number | undefined;
  readonly junit: string | undefined;
  readonly json: string | undefined;
}

/** Output of `parley evaluate --help`. */
export const evaluateHelp = `parley evaluate: puts cases to an application of a running service

Usage
  parley evaluate APP [--cases FILE] [options]

APP is the path of a saved application in your bucket, or its id, applications/BUCKET/PATH. Without --cases it is asked
the cases that it has. What does not hold goes to stdout, progress to stderr.

Options
  --cases FILE               cases: .json, .jsonl, .yaml or .csv
  --url URL                  the service                                       (PARLEY_URL, else http://127.0.0.1:8080)
  --key KEY                  your key or token                                 (PARLEY_KEY)
  --version N                the version that is asked                         (the one in force)
  --against N                asks version N first, and tells what got better and worse since
  --parallel N               cases at once                                     (as many as the service lets)
  --junit FILE               writes the results as JUnit XML
  --json FILE                writes them as JSON, without times and ids: the same bytes for the same answers

Exit codes: 0 all cases passed; 1 some did not; 2 the command line or a file is wrong, or the service refuses.
docs/evaluation.md tells what a case is.
`;

const options = {
  cases: { type: 'string' },
  url: { type: 'string' },
  key: { type: 'string' },
  version: { type: 'string' },
  against: { type: 'string' },
  parallel: { type: 'string' },
  junit: { type: 'string' },
  json: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Parses the arguments after `evaluate`. Throws the errors of `parseArgs`. */
export function readEvaluateFlags(args: readonly string[]): EvaluateFlags | 'help' | { readonly mistake: string } {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) return 'help';
  const [application, ...extraArgs] = positionals;
  if (application === undefined || extraArgs.length > 0) return { mistake: '"evaluate" needs one APP' };
  const { cases, url, key, junit, json } = values;
  for (const name of ['version', 'against', 'parallel'] as const)
    if (values[name] !== undefined && !/^[1-9]\d{0,8}$/.test(values[name]))
      return { mistake: `--${name} must be a whole number from 1` };
  if (url !== undefined && !URL.canParse(url)) return { mistake: '--url must be an address, such as http://127.0.0.1:8080' };
  const toNumber = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const numbers = {
    version: toNumber(values.version),
    against: toNumber(values.against),
    parallel: toNumber(values.parallel),
  };
  return { application, cases, url, key, junit, json, ...numbers };
}
