import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BenchOptions, helpText, readArguments, UsageError } from './arguments.ts';
import { type ContenderName, type Harness, prepareContender, startContender } from './contenders.ts';
import { gatherFacts } from './facts.ts';
import { judgeGoals } from './goals.ts';
import { buildNativeTools } from './native-tools.ts';
import { findFreePort, isAlive, loadCore, ProcessGroup, pinRunner, readTail, setSessionNiceness } from './processes.ts';
import { toReport } from './report.ts';
import { type Manner, manners } from './requests.ts';
import { InvalidRun } from './run-load.ts';
import { type Sample, Samples } from './samples.ts';
import type { Scenario } from './scenario.ts';
import { supportsScenario } from './scenarios.ts';

const bench = dirname(fileURLToPath(import.meta.url));
const root = dirname(bench);

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function findUpstreamPorts(): Promise<Record<Manner, number>> {
  return { 'at-once': await findFreePort(), paced: await findFreePort(), 'paced-slow': await findFreePort() };
}

/** Starts the upstream with one port per manner. It ends with this runner because its standard input closes. */
async function startUpstream(harness: Harness, program: string): Promise<ChildProcess> {
  const plans = (Object.keys(manners) as Manner[]).map((manner) => {
    const { chunks, intervalMs } = manners[manner];
    return `${harness.upstreamPorts[manner]}:${chunks}:${intervalMs * 1000}`;
  });
  const logPath = join(harness.temporary, 'upstream.log');
  const child = harness.processes.start({ core: loadCore, program, args: plans, cwd: harness.temporary, logPath });
  while (isAlive(child) && !readTail(logPath).includes('ready')) await sleep(10);
  if (!isAlive(child)) throw new Error(`the upstream ended:\n${readTail(logPath)}`);
  return child;
}

/** Starts a contender, measures one run, and stops the contender. An invalid run becomes a sample with an error. */
async function measureOnce(
  harness: Harness,
  load: string,
  scenario: Scenario,
  name: ContenderName,
  scale: number,
): Promise<Partial<Sample>> {
  const running = await startContender(name, harness, scenario.addinManner);
  try {
    return { values: await scenario.run({ harness, load, running, scale }) };
  } catch (error) {
    if (!(error instanceof InvalidRun)) throw error;
    const end = running.child && !isAlive(running.child) ? ` The contender had ended:\n${readTail(running.logPath)}` : '';
    return { error: error.message + end };
  } finally {
    await running.stop();
  }
}

async function measureAll(harness: Harness, load: string, options: BenchOptions): Promise<Samples> {
  const samples = new Samples();
  for (let round = 1; round <= options.rounds; round++) {
    for (const scenario of options.scenarios) {
      for (const contender of options.contenders.filter((name) => supportsScenario(name, scenario))) {
        const sample = await measureOnce(harness, load, scenario, contender, options.scale);
        samples.add({ round, scenario: scenario.name, contender, ...sample });
        const value = sample.values?.[scenario.comparedMetric.key] ?? Number.NaN;
        const figure = Number.isFinite(value) ? `${value.toFixed(2)} ${scenario.comparedMetric.title}` : '';
        log(
          `round ${round}/${options.rounds}  ${scenario.name.padEnd(10)}  ${contender.padEnd(8)}  ${sample.error ? `INVALID ${sample.error}` : figure}`,
        );
      }
    }
  }
  samples.addDifferences('latency', 'direct', 'added');
  samples.addDifferences('latency', 'bare', 'overBare');
  return samples;
}

function describeDisturbance(samples: Samples): string {
  const disturbed = samples.countDisturbed(20);
  const what = `In ${disturbed} of ${samples.all.length} runs, other processes used more than 20 % of a core`;
  return disturbed ? `${what}: **disturbed**, judge with care or run again on a quiet machine.` : `${what}: undisturbed.`;
}

async function runBenchmarks(harness: Harness, options: BenchOptions): Promise<boolean> {
  const tools = buildNativeTools(bench);
  for (const name of options.contenders) prepareContender(name, harness);
  pinRunner();
  if (options.niceness !== 0) setSessionNiceness(options.niceness);
  await startUpstream(harness, tools.upstream);
  const startedAtMs = Date.now();
  const samples = await measureAll(harness, tools.load, options);
  const report = toReport(samples, [
    ...gatherFacts(harness, options, (Date.now() - startedAtMs) / 60_000),
    describeDisturbance(samples),
  ]);
  process.stdout.write(report);
  if (options.writePath !== undefined) writeFileSync(resolve(options.writePath), report);
  const isValid = !samples.all.some(({ contender, error }) => contender === 'parley' && error !== undefined);
  return isValid && judgeGoals(samples).every(({ isMet }) => isMet !== false);
}

async function main(): Promise<number> {
  const options = readArguments(process.argv.slice(2));
  if (options.isHelp) {
    process.stdout.write(helpText);
    return 0;
  }
  const processes = new ProcessGroup(options.niceness);
  const temporary = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const ownNode = join(root, 'node_modules/.bin/node');
  const node = existsSync(ownNode) ? ownNode : process.execPath;
  const harness: Harness = {
    root,
    bench,
    temporary,
    node,
    before: options.before,
    upstreamPorts: await findUpstreamPorts(),
    processes,
  };
  const clean = async (): Promise<void> => {
    await processes.stopAll();
    if (options.niceness !== 0) setSessionNiceness(0);
    rmSync(temporary, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void clean().finally(() => process.exit(130)));
  try {
    return (await runBenchmarks(harness, options)) ? 0 : 1;
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
