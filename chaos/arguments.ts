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
  /** File for the result as JSON. */
  readonly jsonPath: string | undefined;
  readonly isHelp: boolean;
}

/** Invalid command line. Its message is printed without a stack. */
export class UsageError extends Error {}

const defaultMinutes = 15;

/** The text of `--help`. */
export const helpText = `npm run chaos -- [options]

Does harm to services that it starts on this machine, and ends with 1 if anything is not as it must be: an answer or an end in time,
a right status, an error in our shape, one end of each stream, nothing left under way, memory and descriptors given back, no blocked loop.

  --only NAME       a scenario, or several with commas: ${scenarios.map(({ name }) => name).join(', ')}
  --short           each scenario for some seconds, as in npm run check
  --minutes N       how long all of them take together (${defaultMinutes})
  --match TEXT      only cases whose name has this in it; of a fuzzer also the numbers of inputs, with commas, to show each alone
  --inputs N        how many inputs each fuzzer sends, whatever the time
  --seed N          another course of events (1); the same seed tries the same again
  --json FILE       writes what was found to a file as well
  --help            this text

Needs Linux with redis-server, pgbouncer, nginx and openssl (npm run check:chaos brings them), and the built service (npm run build:service).
`;

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  try {
    const options = { only: text, seed: text, minutes: text, inputs: text, match: text, json: text, short: flag, help: flag };
    return parseArgs({ args: args, options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function toNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < least) throw new UsageError(`--${name} '${text}' is no number of ${least} or more`);
  return value;
}

function pickScenarios(text: string | undefined): readonly Scenario[] {
  if (text === undefined) return scenarios;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) throw new UsageError(`'${unknown}' is none of: ${scenarios.map(({ name }) => name).join(', ')}`);
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
    jsonPath: values.json === undefined ? undefined : resolve(values.json),
    isHelp: values.help,
  };
}
