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
export const evaluateHelp = `parley evaluate: runs test cases against an application of a running service

Usage
  parley evaluate APP [--cases FILE] [options]

APP is the path of a saved application in your bucket, or its id, applications/BUCKET/PATH. Without --cases, the stored
cases of the application run. Results go to stdout, and progress to stderr.

Options
  --cases FILE               cases: .json, .jsonl, .yaml or .csv
  --url URL                  URL of the service                                (PARLEY_URL or http://127.0.0.1:8080)
  --key KEY                  your key or token                                 (PARLEY_KEY)
  --version N                version to evaluate                               (the current version)
  --against N                evaluates version N first, and prints the differences
  --parallel N               number of concurrent cases                        (maximum of the service)
  --junit FILE               writes the results as JUnit XML
  --json FILE                writes the results as JSON, without times and IDs: equal answers give equal files

Exit codes: 0 if all cases passed, 1 if some did not, 2 if the arguments or a file are invalid or the service fails.
See docs/evaluation.md for the format of cases.
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
  if (application === undefined || extraArgs.length > 0) return { mistake: '"evaluate" requires exactly one APP' };
  const { cases, url, key, junit, json } = values;
  for (const name of ['version', 'against', 'parallel'] as const)
    if (values[name] !== undefined && !/^[1-9]\d{0,8}$/.test(values[name]))
      return { mistake: `--${name} must be a positive whole number` };
  if (url !== undefined && !URL.canParse(url)) return { mistake: '--url must be a URL, such as http://127.0.0.1:8080' };
  const toNumber = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const numbers = {
    version: toNumber(values.version),
    against: toNumber(values.against),
    parallel: toNumber(values.parallel),
  };
  return { application, cases, url, key, junit, json, ...numbers };
}
