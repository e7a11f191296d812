import { setTimeout } from 'node:timers/promises';
import { type Cell, cells, deploymentIds, type Outcome, toMark } from './cells.ts';
import type { ObservedUpstream } from './observed-upstream.ts';
import type { Program } from './programs.ts';
import { imageBase64 } from './replies.ts';
import { type Ran, runCommand } from './run-command.ts';
import type { Stage } from './stage.ts';

const longestProgramMs = 600_000;

/** Runs all programs and returns one outcome for each cell. */
export async function runPrograms(programs: readonly Program[], { runners, world, turns }: Stage): Promise<Outcome[]> {
  const outcomes = programs.map(async (program) => {
    const { toCommand, folder } = runners[program.runtime];
    const options = { folder, environment: world.environment, timeoutMs: longestProgramMs, isBare: true };
    return toOutcomes(program, await turns.take(program.name, () => runCommand(toCommand(program), options)));
  });
  const all = (await Promise.all(outcomes)).flat();
  await setTimeout(1000);
  return all.map((outcome) => checkAgainst(world.upstream, outcome));
}

/** Returns the outcome that the program reported for each cell. A cell without a report is red. */
export function toOutcomes({ clients }: Program, { code, stdout, stderr }: Ran): Outcome[] {
  const reported = new Map<string, Outcome>();
  for (const line of stdout.split('\n')) {
    if (!line.startsWith('{')) continue;
    const outcome = JSON.parse(line) as Outcome;
    reported.set(toMark(outcome), outcome);
  }
  const missingReport = `the program did not report it and exited with ${code}: ${stderr.slice(-400)}`;
  return Object.entries(clients).flatMap(([client, without]) =>
    deploymentIds.flatMap((deployment) =>
      cells
        .filter((cell) => without[cell] === undefined)
        .map(
          (cell) =>
            reported.get(toMark({ client, deployment, cell })) ?? { client, deployment, cell, ok: false, seen: missingReport },
        ),
    ),
  );
}

/** Requirements for the upstream requests, in addition to the client output. */
const upstreamRequirements: Partial<Record<Cell, { readonly what: string; readonly holds: (body: string) => boolean }>> = {
  image: { what: 'the picture', holds: (body) => body.includes(imageBase64) },
  structured: { what: 'the schema of the reply', holds: (body) => body.includes('"degrees"') },
};

/** Returns the outcome, which is red if the upstream requests do not match it. */
export function checkAgainst(upstream: Pick<ObservedUpstream, 'exchangesWith'>, outcome: Outcome): Outcome {
  if (!outcome.ok) return outcome;
  const exchanges = upstream.exchangesWith(toMark(outcome));
  const red = (seen: string): Outcome => ({ ...outcome, ok: false, seen });
  if (exchanges.length === 0) return red('no request reached the upstream');
  const expected = upstreamRequirements[outcome.cell];
  if (expected !== undefined && !exchanges.some(({ body }) => expected.holds(body)))
    return red(`${expected.what} did not reach the upstream`);
  if (outcome.cell === 'cancel' && !exchanges.every(({ isCanceled }) => isCanceled))
    return red('the upstream request was not canceled');
  return outcome;
}
