import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { install } from './install.ts';
import type { Program, Runtime } from './programs.ts';
import { runCommand } from './run-command.ts';

const programsFolder = join(import.meta.dirname, '..');
const pythonFolder = join(programsFolder, 'python');
const goFolder = join(programsFolder, 'go');
const javaFolder = join(programsFolder, 'java');

/** Commands that run the programs and snippets of one runtime. */
export interface Runner {
  readonly toCommand: (program: Program) => readonly string[];
  /** Command for a single file with the same libraries. */
  readonly toSnippetCommand: (file: string) => readonly string[];
  /** Command for several files that share their imports, if the runtime supports it. It prints one JSON line for each file. */
  readonly toSnippetsCommand?: (files: readonly string[]) => readonly string[];
  /** Working directory of the commands. */
  readonly folder: string;
}

export type Runners = Readonly<Record<Runtime, Runner>>;

interface RuntimeRequirement {
  readonly command: readonly string[];
  readonly pattern: RegExp;
  readonly atLeast: readonly number[];
  readonly debian: string;
}

const needed: readonly RuntimeRequirement[] = [
  { command: ['python3', '--version'], pattern: /Python (\d+)\.(\d+)/, atLeast: [3, 11], debian: 'python3 python3-venv' },
  {
    command: ['go', 'version'],
    pattern: /go(\d+)\.(\d+)/,
    atLeast: [1, 26],
    debian: 'golang, or golang from backports if the Debian release has an older version',
  },
  { command: ['javac', '-version'], pattern: /javac (\d+)/, atLeast: [17], debian: 'openjdk-17-jdk-headless' },
  { command: ['mvn', '--version'], pattern: /Maven (\d+)\.(\d+)/, atLeast: [3, 6], debian: 'maven' },
];

/** Returns one line, with installation instructions, for each tool that is missing or too old. */
export async function findMissing(): Promise<string[]> {
  const missing: string[] = [];
  for (const { command, pattern, atLeast, debian } of needed) {
    const { stdout, stderr } = await runCommand(command);
    const found = pattern.exec(`${stdout}${stderr}`)?.slice(1).map(Number);
    if (found !== undefined && !isBelow(found, atLeast)) continue;
    const installedText = found === undefined ? 'is missing' : `is ${found.join('.')}`;
    const wanted = atLeast.join('.');
    missing.push(`${command[0]} ${installedText}. The clients need ${wanted} or newer. On Debian: apt-get install ${debian}`);
  }
  return missing;
}

function isBelow(found: readonly number[], atLeast: readonly number[]): boolean {
  const at = atLeast.findIndex((part, index) => (found[index] ?? 0) !== part);
  return at !== -1 && (found[at] ?? 0) < (atLeast[at] ?? 0);
}

/** Installs the dependencies of the programs and compiles them, unless an earlier run did so with equal sources. */
export async function prepareRunners(): Promise<Runners> {
  const [newest, openaiTwo, instructor] = await preparePythonRunners('newest', 'openai-two', 'instructor');
  const [go, java] = await Promise.all([prepareGo(), prepareJava()]);
  return { newest, 'openai-two': openaiTwo, instructor, go, java };
}

async function preparePythonRunners<const Names extends readonly Runtime[]>(
  ...names: Names
): Promise<{ [At in keyof Names]: Runner }> {
  const runners: Runner[] = [];
  for (const name of names) {
    const python = join(await installPythonPackages(name), 'bin/python');
    runners.push({
      toCommand: (program) => [python, '-B', `${program.name}.py`],
      toSnippetCommand: (file) => [python, '-B', file],
      toSnippetsCommand: (files) => [python, '-B', 'run_snippets.py', ...files],
      folder: pythonFolder,
    });
  }
  return runners as { [At in keyof Names]: Runner };
}

/** Installs the packages of `python/environments/<name>.txt` in a virtual environment. Returns its folder. */
export async function installPythonPackages(name: string): Promise<string> {
  const version = await readVersion('python3', '--version');
  const lock = join(pythonFolder, 'environments', `${name}.txt`);
  return install({
    name: `python-${name}`,
    inputs: [version, await readFile(lock, 'utf8')],
    toSteps: (into) => [
      { command: ['python3', '-m', 'venv', into] },
      { command: [join(into, 'bin/pip'), 'install', '--quiet', '--require-hashes', '--requirement', lock] },
    ],
  });
}

async function prepareGo(): Promise<Runner> {
  const goSum = await readFile(join(goFolder, 'go.sum'), 'utf8');
  await install({
    name: 'go-modules',
    inputs: [goSum],
    toSteps: () => [{ command: ['go', 'mod', 'download'], folder: goFolder }],
  });
  const built = await install({
    name: 'go-programs',
    inputs: [await readVersion('go', 'version'), goSum, ...(await readSources(goFolder, '.go'))],
    toSteps: (into) => [{ command: ['go', 'build', '-o', into, './...'], folder: goFolder }],
  });
  return {
    toCommand: ({ name }) => [join(built, name)],
    toSnippetCommand: (file) => ['go', 'run', file],
    folder: goFolder,
  };
}

async function prepareJava(): Promise<Runner> {
  const pom = await readFile(join(javaFolder, 'pom.xml'), 'utf8');
  const folder = await install({
    name: 'java',
    inputs: [pom],
    toSteps: (into) => [
      {
        command: ['mvn', '--batch-mode', '--quiet', '--strict-checksums', `-Dclients.libraries=${into}/libraries`, 'package'],
        folder: javaFolder,
      },
    ],
  });
  const libraries = join(folder, 'libraries/*');
  const names = (await readdir(javaFolder)).filter((name) => name.endsWith('.java'));
  const classes = await install({
    name: 'java-programs',
    inputs: [await readVersion('javac', '-version'), pom, ...(await readSources(javaFolder, '.java'))],
    toSteps: (into) => [{ command: ['javac', '-d', into, '-cp', libraries, ...names], folder: javaFolder }],
  });
  const run = ['java', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', `${libraries}:${classes}`];
  return {
    toCommand: ({ name }) => [...run, name],
    toSnippetCommand: (file) => [...run, file],
    folder: javaFolder,
  };
}

async function readVersion(...command: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runCommand(command);
  return `${stdout}${stderr}`;
}

/** Returns all files below the folder with this extension. */
async function readSources(folder: string, ending: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(ending)).sort();
  return Promise.all(names.map(async (name) => `${name}\n${await readFile(join(folder, name), 'utf8')}`));
}
