import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { helpText, readArguments, UsageError, type Wish } from './arguments.ts';
import { type ContenderName, type Grounds, prepareContender, startContender } from './contenders.ts';
import { gatherFacts } from './facts.ts';
import { judgeGoals } from './goals.ts';
import { buildNativeTools } from './native-tools.ts';
import { findFreePort, isAlive, loadCore, ProcessGroup, pinRunner, readTail, setSessionNiceness } from './processes.ts';
import { toReport } from './report.ts';
import { type Manner, manners } from './requests.ts';
import { InvalidRun } from './run-load.ts';
import { type Sample, Samples } from './samples.ts';
import type { Scenario } from './scenario.ts';
import { mayRun } from './scenarios.ts';

const bench = dirname(fileURLToPath(import.meta.url));
const root = dirname(bench);

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function findUpstreamPorts(): Promise<Record<Manner, number>> {
  return { 'at-once': await findFreePort(), paced: await findFreePort(), 'paced-slow': await findFreePort() };
}

/** Starts the upstream with one port per manner. It ends with this runner because its standard input closes. */
async function startUpstream(grounds: Grounds, program: string): Promise<ChildProcess> {
  const plans = (Object.keys(manners) as Manner[]).map((manner) => {
    const { chunks, intervalMs } = manners[manner];
    return `${grounds.upstreamPorts[manner]}:${chunks}:${intervalMs * 1000}`;
  });
  const logPath = join(grounds.temporary, 'upstream.log');
  const child = grounds.processes.start({ core: loadCore, program, args: plans, cwd: grounds.temporary, logPath });
  while (isAlive(child) && !readTail(logPath).includes('ready')) await sleep(10);
  if (!isAlive(child)) throw new Error(`the upstream ended:\n${readTail(logPath)}`);
  return child;
}

/** Starts a contender, measures one run, and stops the contender. An invalid run becomes a sample with an error. */
async function measureOnce(
  grounds: Grounds,
  load: string,
  scenario: Scenario,
  name: ContenderName,
  scale: number,
): Promise<Partial<Sample>> {
  const running = await startContender(name, grounds, scenario.addinManner);
  try {
    return { values: await scenario.run({ grounds, load, running, scale }) };
  } catch (error) {
    if (!(error instanceof InvalidRun)) throw error;
    const end = running.child && !isAlive(running.child) ? ` The contender had ended:\n${readTail(running.logPath)}` : '';
    return { error: error.message + end };
  } finally {
    await running.stop();
  }
}

async function measureAll(grounds: Grounds, load: string, wish: Wish): Promise<Samples> {
  const samples = new Samples();
  for (let round = 1; round <= wish.rounds; round++) {
    for (const scenario of wish.scenarios) {
      for (const contender of wish.contenders.filter((name) => mayRun(name, scenario))) {
        const sample = await measureOnce(grounds, load, scenario, contender, wish.scale);
        samples.add({ round, scenario: scenario.name, contender, ...sample });
        const value = sample.values?.[scenario.compared.key] ?? Number.NaN;
        const figure = Number.isFinite(value) ? `${value.toFixed(2)} ${scenario.compared.title}` : '';
        log(
          `round ${round}/${wish.rounds}  ${scenario.name.padEnd(10)}  ${contender.padEnd(8)}  ${sample.error ? `INVALID ${sample.error}` : figure}`,
        );
      }
    }
  }
  samples.deriveOver('latency', 'direct', 'added');
  samples.deriveOver('latency', 'bare', 'overBare');
  return samples;
}

function toDisturbance(samples: Samples): string {
  const disturbed = samples.countDisturbed(20);
  const what = `In ${disturbed} of ${samples.all.length} runs, other processes used more than 20 % of a core`;
  return disturbed ? `${what}: **disturbed**, judge with care or run again on a quiet machine.` : `${what}: undisturbed.`;
}

async function bringReport(grounds: Grounds, wish: Wish): Promise<boolean> {
  const tools = buildNativeTools(bench);
  for (const name of wish.contenders) prepareContender(name, grounds);
  pinRunner();
  if (wish.niceness !== 0) setSessionNiceness(wish.niceness);
  await startUpstream(grounds, tools.upstream);
  const startedAtMs = Date.now();
  const samples = await measureAll(grounds, tools.load, wish);
  const report = toReport(samples, [...gatherFacts(grounds, wish, (Date.now() - startedAtMs) / 60_000), toDisturbance(samples)]);
  process.stdout.write(report);
  if (wish.writePath !== undefined) writeFileSync(resolve(wish.writePath), report);
  const isValid = !samples.all.some(({ contender, error }) => contender === 'parley' && error !== undefined);
  return isValid && judgeGoals(samples).every(({ isMet }) => isMet !== false);
}

async function main(): Promise<number> {
  const wish = readArguments(process.argv.slice(2));
  if (wish.isHelp) {
    process.stdout.write(helpText);
    return 0;
  }
  const processes = new ProcessGroup(wish.niceness);
  const temporary = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const ownNode = join(root, 'node_modules/.bin/node');
  const node = existsSync(ownNode) ? ownNode : process.execPath;
  const grounds: Grounds = {
    root,
    bench,
    temporary,
    node,
    before: wish.before,
    upstreamPorts: await findUpstreamPorts(),
    processes,
  };
  const clean = async (): Promise<void> => {
    await processes.stopAll();
    if (wish.niceness !== 0) setSessionNiceness(0);
    rmSync(temporary, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void clean().finally(() => process.exit(130)));
  try {
    return (await bringReport(grounds, wish)) ? 0 : 1;
  } finally {
    await clean();
  }
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    log(
      error instanceof UsageError
        ? `${error.message}\n\n${helpText}`
        : `bench: ${error instanceof Error ? error.message : error}`,
    );
    process.exitCode = error instanceof UsageError ? 2 : 1;
  },
);
