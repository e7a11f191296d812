import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StreamReader } from './read-events.ts';
import { openStream, sendRequest, type TestRequest, type TestResponse } from './send-request.ts';
import { callerKey, getChatPath, withKey } from './start-service.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The built service, as users start it. `servers.ts` builds it. */
export const main = join(root, 'dist/main.js');
/** Compile cache of Node.js, which halves the start time of each process. */
const compiled = join(root, 'node_modules/.cache/parley-compiled');
/** Ends a command that hangs, after the test that waits for it has failed. */
const maxCommandMs = 200_000;

/** Output of a process. */
interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessEnd extends Output {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessOptions {
  /** Written to a file that is passed as --config. Null passes no file. `keys` may be omitted. */
  readonly configuration: object | null;
  /** Unless it sets a grace period, the process stops accepting calls immediately after a stop signal. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Appended to `serve --config FILE --port 0`. A later flag wins. */
  readonly flags?: readonly string[];
  /** Program to start. Default: Node.js with the built service. */
  readonly program?: string;
}

export interface TestProcess extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly output: Output;
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when the output on stdout or stderr matches. */
  untilOutput(pattern: RegExp): Promise<void>;
  sendRequest(options: TestRequest): Promise<TestResponse>;
  chat(deployment: string, body: object): Promise<TestResponse>;
  stream(deployment: string, body: object): Promise<StreamReader>;
  /** Replaces the configuration atomically. Text is written unchanged. */
  configure(configuration: object | string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

/** Runs a command of Parley in a separate process until it ends. */
export function runCommand(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<ProcessEnd> {
  return runProgram([process.execPath, main, ...args], environment);
}

/** Runs any command in a separate process until it ends. */
export function runProgram(command: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<ProcessEnd> {
  return toRunning(command, environment, { timeout: maxCommandMs, killSignal: 'SIGKILL' }).ended;
}

/** Starts `parley serve` in a separate process and resolves when it listens. Rejects with its output if it ends earlier. */
export async function startProcess({
  configuration,
  environment = {},
  flags = [],
  program,
}: ProcessOptions): Promise<TestProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-process-'));
  const file = join(folder, 'parley.json');
  const configure = async (next: object | string): Promise<void> => {
    await writeFile(
      `${file}.next`,
      typeof next === 'string' ? next : JSON.stringify({ keys: { [callerKey]: { project: 'test' } }, ...next }),
    );
    await rename(`${file}.next`, file);
  };
  if (configuration !== null) await configure(configuration);
  const configFlags = configuration === null ? [] : ['--config', file];
  const args = ['serve', ...configFlags, '--port', '0', '--data', join(folder, 'data'), ...flags];
  const started = program === undefined ? [process.execPath, main] : [program];
  const running = toRunning([...started, ...args], { PARLEY_LAME_DUCK_MS: '0', ...environment });
  const { child, ended, output, untilOutput } = running;
  const greeting = /Parley listens on (https?:\/\/[^\s,]+)/;
  const deleteFolder = () => rm(folder, { recursive: true, force: true });
  await Promise.race([untilOutput(greeting), ended]);
  const url = greeting.exec(output.stdout)?.[1];
  if (url === undefined) {
    await deleteFolder();
    throw new Error(`the process did not start: ${output.stderr}${output.stdout}`);
  }
  return {
    url,
    pid: child.pid ?? 0,
    output,
    ended,
    untilOutput,
    sendRequest: (options) => sendRequest(url, options),
    chat: (deployment, body) => sendRequest(url, { path: getChatPath(deployment), headers: withKey(), body }),
    stream: (deployment, body) =>
      openStream(url, { path: getChatPath(deployment), headers: withKey(), body: { stream: true, ...body } }),
    configure,
    kill: (signal) => void child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
      await deleteFolder();
    },
  };
}

function toRunning(command: readonly string[], environment: Readonly<Record<string, string>>, spawnOptions: SpawnOptions = {}) {
  const { PATH = '', HOME = '' } = process.env;
  const [program = '', ...args] = command;
  const child: ChildProcess = spawn(program, args, {
    cwd: root,
    env: { PATH, HOME, NODE_COMPILE_CACHE: compiled, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...spawnOptions,
  });
  const output = { stdout: '', stderr: '' };
  let waiting: { readonly pattern: RegExp; readonly resolve: () => void }[] = [];
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      for (const { pattern, resolve } of waiting) if (pattern.test(output[name])) resolve();
      waiting = waiting.filter(({ pattern }) => !pattern.test(output[name]));
    });
  }
  const untilOutput = (pattern: RegExp): Promise<void> => {
    if (pattern.test(output.stdout) || pattern.test(output.stderr)) return Promise.resolve();
    return new Promise((resolve) => waiting.push({ pattern, resolve }));
  };
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('close', (code, signal) => resolve({ ...output, code, signal }));
  });
  return { child, output, untilOutput, ended };
}
