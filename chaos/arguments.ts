import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

/** The parsed command line. */
export interface Wish {
  readonly scenarios: readonly Scenario[];
  readonly seed: number;
  readonly minutes: number;
  readonly isShort: boolean;
  readonly inputs: number | undefined;
  /** Runs only cases whose name contains this text. Empty for all cases. */
  readonly match: string;
  /** Program of an earlier version, which a rolling upgrade replaces. */
  readonly from: string | undefined;
  /** File for the result as JSON. */
  readonly jsonPath: string | undefined;
  readonly isHelp: boolean;
}

/** Invalid command line. Its message is printed without a stack. */
export class UsageError extends Error {}

const defaultMinutes = 15;

/** Output of `--help`. */
export const helpText = `npm run chaos -- [options]

Starts services on this machine and injects faults. Exits with 1 if a requirement is violated: a timely answer or end,
a correct status, an error in the documented form, one end of each stream, no remaining requests, no leaked memory or descriptors, and no blocked loop.

  --only NAME       one or more scenarios, separated by commas: ${scenarios.map(({ name }) => name).join(', ')}
  --short           runs each scenario for some seconds, as in npm run check
  --minutes N       total duration (default: ${defaultMinutes})
  --match TEXT      runs only cases whose name contains TEXT. For a fuzzer also input numbers, separated by commas, to show each alone
  --inputs N        number of inputs of each fuzzer, regardless of the time
  --from PROGRAM    rolling: bin/parley in a built checkout of an earlier version, which this version replaces
  --seed N          random seed (default: 1). The same seed runs the same cases
  --json FILE       also writes the result to a file
  --help            prints this text

Needs Linux with redis-server, pgbouncer, nginx and openssl (npm run check:chaos installs them), and the built service (npm run build:service).
`;

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  try {
    const options = {
      only: text,
      seed: text,
      minutes: text,
      inputs: text,
      match: text,
      json: text,
      from: text,
      short: flag,
      help: flag,
    };
    return parseArgs({ args: args, options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function toNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < least) throw new UsageError(`--${name} '${text}' is not a number of at least ${least}`);
  return value;
}

function pickScenarios(text: string | undefined): readonly Scenario[] {
  if (text === undefined) return scenarios;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) throw new UsageError(`'${unknown}' is not one of: ${scenarios.map(({ name }) => name).join(', ')}`);
  return scenarios.filter(({ name }) => names.includes(name));
}

/** Parses the command line. Throws `UsageError`. */
export function readArguments(args: string[]): Wish {
  const values = parse(args);
  return {
    scenarios: pickScenarios(values.only),
    seed: toNumber('seed', values.seed ?? '1', 0),
    minutes: toNumber('minutes', values.minutes ?? String(defaultMinutes), 0.1),
    isShort: values.short,
    inputs: values.inputs === undefined ? undefined : toNumber('inputs', values.inputs, 1),
    match: values.match ?? '',
    from: values.from === undefined ? undefined : resolve(values.from),
    jsonPath: values.json === undefined ? undefined : resolve(values.json),
    isHelp: values.help,
  };
}
