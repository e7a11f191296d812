import { writeFileSync } from 'node:fs';
import { helpText, readArguments, UsageError, type Wish } from './arguments.ts';
import { Random } from './random.ts';
import { type Result, toReport } from './report.ts';
import type { Ground, Scenario } from './scenario.ts';
import { Tally } from './tally.ts';

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** The short form runs next to other work on machines of any speed. */
const mayBlockMs = { short: 2_000, long: 250 };

/** Runs one scenario. A thrown error counts as an additional fault. */
async function runScenario({ name, title, run }: Scenario, options: Omit<Ground, 'tally' | 'log'>): Promise<Result> {
  const logNamed = (text: string): void => log(`${name.padEnd(16)}${text}`);
  const tally = new Tally(logNamed, options.isShort ? mayBlockMs.short : mayBlockMs.long);
  const beganMs = performance.now();
  const ground: Ground = { ...options, tally, log: logNamed };
  try {
    await run(ground);
  } catch (error) {
    tally.addFault(`the scenario ended: ${error instanceof Error ? error.stack : error}`);
  }
  const seconds = (performance.now() - beganMs) / 1000;
  const { faultCount, faults, figures } = tally;
  logNamed(`${faultCount === 0 ? 'passed' : `${faultCount} FAULTS`}, ${seconds.toFixed(1)} s`);
  return { name, title, seconds, figures, faultCount, faults };
}

async function runAll(wish: Wish): Promise<readonly Result[]> {
  const random = new Random(wish.seed);
  const weights = wish.scenarios.reduce((sum, { weight }) => sum + weight, 0);
  const results: Result[] = [];
  for (const scenario of wish.scenarios) {
    if (wish.isShort && scenario.isLongOnly) continue;
    const ms = wish.isShort ? 0 : (wish.minutes * 60_000 * scenario.weight) / weights;
    const options = {
      random: random.fork(),
      isShort: wish.isShort,
      inputs: wish.inputs,
      match: wish.match,
      from: wish.from,
      untilMs: performance.now() + ms,
    };
    results.push(await runScenario(scenario, options));
  }
  return results;
}

async function main(): Promise<number> {
  const wish = readArguments(process.argv.slice(2));
  if (wish.isHelp) {
    process.stdout.write(helpText);
    return 0;
  }
  const results = await runAll(wish);
  process.stdout.write(toReport(results));
  if (wish.jsonPath !== undefined) writeFileSync(wish.jsonPath, `${JSON.stringify({ seed: wish.seed, results }, null, 2)}\n`);
  return results.every(({ faultCount }) => faultCount === 0) ? 0 : 1;
}

// The rest of a damaged connection may emit an error long after its case has ended.
process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
  if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return;
  log(`chaos: ${error.stack}`);
  process.exit(1);
});

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    log(
      error instanceof UsageError ? `${error.message}\n\n${helpText}` : `chaos: ${error instanceof Error ? error.stack : error}`,
    );
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);
