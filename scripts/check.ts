import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

const help = `Runs the checks of this repository and exits with 1 if any of them fails.

  npm run check             everything that must pass before a commit
  npm run check:fast        types, lint, layers, patterns, figures, and the tests next to the source

npm run check starts with the audit of runtime dependencies. Then the other checks run: as many concurrently as there are CPU
cores, but at least two, because chaos is idle for half of its time. The complete output of a failed check is printed. If all
checks pass, the tests run with live output. To run one check: npm run check:<name>.`;

/** Names of `check:` scripts in package.json, slowest first. */
const fastChecks = ['source', 'types', 'lint', 'layers', 'patterns', 'figures'];
const checksBeforeTests = ['chaos', 'types', 'lint', 'layers', 'patterns', 'figures', 'unused', 'docs'];

const running = new Set<ChildProcess>();

interface Outcome {
  readonly hasPassed: boolean;
  readonly output: string;
}

function run(name: string, stdio: 'pipe' | 'inherit'): Promise<Outcome> {
  const child = spawn('npm', ['run', '--silent', `check:${name}`], { stdio: ['ignore', stdio, stdio] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code) => {
      running.delete(child);
      resolve({ hasPassed: code === 0, output });
    });
  });
}

/** Runs one check and prints its result. */
async function runAndReport(name: string): Promise<boolean> {
  const startedAt = performance.now();
  const { hasPassed, output } = await run(name, 'pipe');
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${hasPassed ? 'passed' : 'FAILED'}  ${name.padEnd(8)}${seconds.padStart(6)} s`);
  if (!hasPassed) console.error(`\n${output.trimEnd()}\n`);
  return hasPassed;
}

/** Runs one check and shows its output live. */
async function runLive(name: string): Promise<boolean> {
  console.log(`running ${name}`);
  return (await run(name, 'inherit')).hasPassed;
}

/** Runs all checks concurrently, even if one fails. Returns whether all succeeded. */
async function runConcurrently(names: readonly string[]): Promise<boolean> {
  const waiting = [...names];
  const outcomes: boolean[] = [];
  const runNext = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) outcomes.push(await runAndReport(name));
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, runNext));
  return outcomes.every(Boolean);
}

const { values } = parseArgs({ options: { fast: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill(signal);
    process.exit(1);
  });
}
if (values.help) console.log(help);
else if (values.fast) process.exitCode = (await runConcurrently(fastChecks)) ? 0 : 1;
else
  process.exitCode = (await runLive('audit')) && (await runConcurrently(checksBeforeTests)) && (await runLive('tests')) ? 0 : 1;
