import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type ContenderName, contenderNames } from './contenders.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

/** The parsed command line. */
export interface BenchOptions {
  contenders: readonly ContenderName[];
  scenarios: readonly Scenario[];
  rounds: number;
  /** Factor for the duration of every run. */
  scale: number;
  niceness: number;
  writePath: string | undefined;
  /** Another checkout of Parley that is also measured. */
  before: string | undefined;
  isHelp: boolean;
}

/** Invalid command line. Its message is printed without a stack. */
export class UsageError extends Error {}

export const helpText = `npm run bench -- [options]

Measures a direct connection, nginx, bare Node, Portkey, and Parley in turn on one core. Prints a report in Markdown.

  --only NAME       one or more contenders, separated by commas: ${contenderNames.join(', ')}
  --scenario NAME   one or more loads, separated by commas: ${scenarios.map(({ name }) => name).join(', ')}
  --against FOLDER  another checkout of Parley with installed packages, which is measured as well
  --rounds N        number of rounds (default: 5)
  --quick           one round with runs of a third of the duration
  --nice=N          niceness of the measured processes (default: 0). --nice=-15 as root gives them precedence on a shared machine
  --write FILE      also writes the report to a file
  --help            prints this text

Needs Linux with two cores, a C compiler, taskset, nginx (apt-get install nginx-light). Portkey is installed by npm ci on first use.
Exits with 1 if a goal was missed or a run of Parley was invalid.
`;

function pick<T>(text: string | undefined, all: readonly T[], getName: (item: T) => string): readonly T[] {
  if (text === undefined) return all;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !all.some((item) => getName(item) === name));
  if (unknown !== undefined) throw new UsageError(`'${unknown}' is not one of: ${all.map(getName).join(', ')}`);
  return all.filter((item) => names.includes(getName(item)));
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({
      args,
      options: { only: text, against: text, scenario: text, rounds: text, write: text, nice: text, quick: flag, help: flag },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Parses the command line. Throws `UsageError`. */
export function readArguments(args: string[]): BenchOptions {
  const values = parse(args);
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1) throw new UsageError(`--rounds '${values.rounds}' is not a number of rounds`);
  const niceness = Number(values.nice ?? 0);
  if (!Number.isInteger(niceness)) throw new UsageError(`--nice '${values.nice}' is not an integer`);
  const before = values.against === undefined ? undefined : resolve(values.against);
  return {
    contenders: pick(values.only, contenderNames, (name) => name).filter((name) => name !== 'before' || before !== undefined),
    scenarios: pick(values.scenario, scenarios, ({ name }) => name),
    rounds,
    scale: values.quick ? 0.34 : 1,
    niceness,
    writePath: values.write,
    before,
    isHelp: values.help,
  };
}
