import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type RunOptions, runCommand } from './run-command.ts';

const tries = 3;
const pauseMs = 10_000;
/** Long, because a registry and a first compilation can be slow. */
const maxStepMs = 1_800_000;

/** Outside of the repository, so that checkouts with equal locks share the installation. */
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'parley', 'clients');

interface Step extends RunOptions {
  readonly command: readonly string[];
}

interface Installation {
  readonly name: string;
  /** Files and strings that identify the installation. A change causes another folder. */
  readonly inputs: readonly string[];
  /** Returns the commands that fill an empty folder. */
  readonly toSteps: (folder: string) => readonly Step[];
}

/** Returns the installation folder. Fills it, in up to three attempts, unless an earlier run did so with equal inputs. */
export async function install({ name, inputs, toSteps }: Installation): Promise<string> {
  const hash = createHash('sha256');
  for (const input of inputs) hash.update(input);
  const folder = join(cache, `${name}-${hash.digest('hex').slice(0, 16)}`);
  const completeMark = join(folder, '.whole');
  if ((await readFile(completeMark).catch(() => undefined)) !== undefined) return folder;
  process.stderr.write(`Installing ${name} in ${cache}. This takes minutes the first time.\n`);
  let failure = '';
  for (let index = 0; index < tries; index += 1) {
    if (index > 0) await setTimeout(pauseMs * index);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    failure = await runSteps(toSteps(folder));
    if (failure === '') {
      await writeFile(completeMark, '');
      return folder;
    }
  }
  throw new Error(`${name} could not be installed, tried ${tries} times:\n${failure}`);
}

/** Installs the manifest and lock of a folder of this repository, without install scripts. Returns the folder. */
export async function installNpmPackages(name: string, from: string): Promise<string> {
  const [manifest, lock] = [join(from, 'package.json'), join(from, 'package-lock.json')];
  return install({
    name,
    inputs: [process.version, await readFile(lock, 'utf8')],
    toSteps: (into) => [
      { command: ['cp', manifest, lock, into] },
      { command: ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder: into },
    ],
  });
}

/** Returns the failed command and the end of its output, or an empty string on success. */
async function runSteps(steps: readonly Step[]): Promise<string> {
  for (const { command, ...options } of steps) {
    const { code, stdout, stderr } = await runCommand(command, { timeoutMs: maxStepMs, ...options });
    if (code !== 0) return `${command.join(' ')}\n${`${stdout}${stderr}`.slice(-4000)}`;
  }
  return '';
}
