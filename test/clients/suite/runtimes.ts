import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install, longestStepMs } from './install.ts';
import type { Program, Runtime } from './programs.ts';
import { runCommand } from './run-command.ts';

const programsFolder = join(import.meta.dirname, '..');
const pythonFolder = join(programsFolder, 'python');
const goFolder = join(programsFolder, 'go');
const javaFolder = join(programsFolder, 'java');

/** How programs and snippets of one runtime are started. */
export interface Runner {
  readonly toCommand: (program: Program) => readonly string[];
  /** For a file of one's own, with the same libraries. */
  readonly toSnippetCommand: (file: string) => readonly string[];
  /** Where commands run. */
  readonly folder: string;
}

export type Runners = Readonly<Record<Runtime, Runner>> & AsyncDisposable;

interface Needed {
  readonly command: readonly string[];
  readonly pattern: RegExp;
  readonly atLeast: readonly number[];
  readonly debian: string;
}

const needed: readonly Needed[] = [
  { command: ['python3', '--version'], pattern: /Python (\d+)\.(\d+)/, atLeast: [3, 11], debian: 'python3 python3-venv' },
  {
    command: ['go', 'version'],
    pattern: /go(\d+)\.(\d+)/,
    atLeast: [1, 26],
    debian: 'golang (of the backports if the release has an older one)',
  },
  { command: ['javac', '-version'], pattern: /javac (\d+)/, atLeast: [17], debian: 'openjdk-17-jdk-headless' },
  { command: ['mvn', '--version'], pattern: /Maven (\d+)\.(\d+)/, atLeast: [3, 6], debian: 'maven' },
];

/** What is missing on this machine and how it is installed, a line each. */
export async function findMissing(): Promise<string[]> {
  const missing: string[] = [];
  for (const { command, pattern, atLeast, debian } of needed) {
    const { stdout, stderr } = await runCommand(command);
    const found = pattern.exec(`${stdout}${stderr}`)?.slice(1).map(Number);
    if (found !== undefined && !isBelow(found, atLeast)) continue;
    const has = found === undefined ? 'is missing' : `is ${found.join('.')}`;
    const wanted = atLeast.join('.');
    missing.push(`${command[0]} ${has}; the clients need ${wanted} or newer, on Debian: apt-get install ${debian}`);
  }
  return missing;
}

function isBelow(found: readonly number[], atLeast: readonly number[]): boolean {
  const at = atLeast.findIndex((part, index) => (found[index] ?? 0) !== part);
  return at !== -1 && (found[at] ?? 0) < (atLeast[at] ?? 0);
}

/** Installs what the programs need and compiles them. */
export async function prepareRunners(): Promise<Runners> {
  const built = await mkdtemp(join(tmpdir(), 'parley-clients-'));
  const clean = () => rm(built, { recursive: true, force: true });
  try {
    const [newest, openaiTwo, instructor] = await preparePythons('newest', 'openai-two', 'instructor');
    const [go, java] = await Promise.all([prepareGo(built), prepareJava(built)]);
    return { newest, 'openai-two': openaiTwo, instructor, go, java, [Symbol.asyncDispose]: clean };
  } catch (error) {
    await clean();
    throw error;
  }
}

async function preparePythons<const Names extends readonly Runtime[]>(...names: Names): Promise<{ [At in keyof Names]: Runner }> {
  const runners: Runner[] = [];
  for (const name of names) {
    const python = join(await installPython(name), 'bin/python');
    runners.push({
      toCommand: (program) => [python, '-B', `${program.name}.py`],
      toSnippetCommand: (file) => [python, '-B', file],
      folder: pythonFolder,
    });
  }
  return runners as { [At in keyof Names]: Runner };
}

/** The folder of the environment that is locked in `python/environments` under this name. */
export async function installPython(name: string): Promise<string> {
  const { stdout: version } = await runCommand(['python3', '--version']);
  const lock = join(pythonFolder, 'environments', `${name}.txt`);
  return install({
    name: `python-${name}`,
    locks: [version, await readFile(lock, 'utf8')],
    toSteps: (into) => [
      { command: ['python3', '-m', 'venv', into] },
      { command: [join(into, 'bin/pip'), 'install', '--quiet', '--require-hashes', '--requirement', lock] },
    ],
  });
}

async function prepareGo(built: string): Promise<Runner> {
  await install({
    name: 'go-modules',
    locks: [await readFile(join(goFolder, 'go.sum'), 'utf8')],
    toSteps: () => [{ command: ['go', 'mod', 'download'], folder: goFolder }],
  });
  await compile(['go', 'build', '-o', built, './...'], goFolder);
  return {
    toCommand: ({ name }) => [join(built, name)],
    toSnippetCommand: (file) => ['go', 'run', file],
    folder: goFolder,
  };
}

async function prepareJava(built: string): Promise<Runner> {
  const pom = join(javaFolder, 'pom.xml');
  const folder = await install({
    name: 'java',
    locks: [await readFile(pom, 'utf8')],
    toSteps: (into) => [
      {
        command: ['mvn', '--batch-mode', '--quiet', '--strict-checksums', `-Dclients.libraries=${into}/libraries`, 'package'],
        folder: javaFolder,
      },
    ],
  });
  const classes = join(built, 'classes');
  const libraries = join(folder, 'libraries/*');
  const sources = (await readdir(javaFolder)).filter((name) => name.endsWith('.java'));
  await compile(['javac', '-d', classes, '-cp', libraries, ...sources], javaFolder);
  const run = ['java', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', `${libraries}:${classes}`];
  return {
    toCommand: ({ name }) => [...run, name],
    toSnippetCommand: (file) => [...run, file],
    folder: javaFolder,
  };
}

async function compile(command: readonly string[], folder: string): Promise<void> {
  const beganMs = Date.now();
  const { code, stdout, stderr } = await runCommand(command, { folder, timeoutMs: longestStepMs });
  process.stderr.write(`${command.slice(0, 2).join(' ')}: ${Math.round((Date.now() - beganMs) / 1000)} s\n`);
  if (code !== 0) throw new Error(`${command.join(' ')}\n${stdout}${stderr}`);
}
