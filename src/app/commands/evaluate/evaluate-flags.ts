import { isHttpUrl } from '#contract/configuration/values.ts';
import { helpOptions, type Parsed } from '../command-options.ts';

/** Flags of `parley evaluate`. The field of an absent flag is undefined. The environment or a default then applies. */
export interface EvaluateFlags {
  /** Path in the user's bucket, or the complete ID. */
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

Options, with defaults in parentheses
  --cases FILE               cases: .json, .jsonl, .yaml or .csv
  --url URL                  URL of the service                                (PARLEY_URL or http://127.0.0.1:8080)
  --key KEY                  your key or token. Other users of the machine can
                             see it. The environment variable hides it         (PARLEY_KEY)
  --version N                version to evaluate                               (the current version)
  --against N                evaluates version N first, and prints the differences
  --parallel N               number of concurrent cases                        (maximum of the service)
  --junit FILE               writes the results as JUnit XML
  --json FILE                writes the results as JSON, without times and IDs: equal answers give equal files

Exit codes: 0 if all cases passed, 1 if some did not, 2 if the arguments or a file are invalid or the service fails.
See docs/evaluation.md for the format of cases.
`;

/** Options of `parley evaluate` for `parseArgs`. `--version` is the version of the application. */
export const evaluateOptions = {
  cases: { type: 'string' },
  url: { type: 'string' },
  key: { type: 'string' },
  version: { type: 'string' },
  against: { type: 'string' },
  parallel: { type: 'string' },
  junit: { type: 'string' },
  json: { type: 'string' },
  help: helpOptions.help,
} as const;

/** Returns the flags of `evaluate`. Throws an error for invalid arguments. */
export function readEvaluateFlags({ values, positionals }: Parsed<typeof evaluateOptions>): EvaluateFlags {
  const [application, ...extraArgs] = positionals;
  if (application === undefined || extraArgs.length > 0) throw new Error('"evaluate" requires exactly one APP');
  const readNumber = (name: 'version' | 'against' | 'parallel'): number | undefined => {
    const text = values[name];
    if (text !== undefined && !/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} must be a positive integer`);
    return text === undefined ? undefined : Number(text);
  };
  const numbers = { version: readNumber('version'), against: readNumber('against'), parallel: readNumber('parallel') };
  const { cases, url, key, junit, json } = values;
  if (url !== undefined && !isHttpUrl(url)) throw new Error('--url must be a URL, such as http://127.0.0.1:8080');
  return { application, cases, url, key, junit, json, ...numbers };
}
