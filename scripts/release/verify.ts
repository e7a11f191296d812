import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';

const maxStartMs = 120_000;

/** Folder and environment of commands. */
interface CommandOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Installs the package as users do, and runs it: with `npx` in an empty folder, and unpacked with `npm ci` and the lockfile. The
 * npm cache is empty, so that all dependencies come from the registry. Throws if a command fails, or if npm installs a package
 * that only development needs.
 */
export async function verifyPackage(tarball: string, lockfile: string, version: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-verify-'));
  try {
    const env = { ...createUserEnvironment(), npm_config_cache: join(folder, 'cache'), npm_config_loglevel: 'error' };
    const options = { cwd: join(folder, 'empty'), env };
    mkdirSync(options.cwd);
    // npx runs an absolute path as a program instead of installing it.
    copyFileSync(tarball, join(options.cwd, basename(tarball)));
    const run = (command: string, ...args: readonly string[]): string =>
      execFileSync(command, args, { ...options, encoding: 'utf8' });
    console.log(`verify: Node ${run('node', '--version').trim()}, npm ${run('npm', '--version').trim()}`);

    const unpacked = join(folder, 'unpacked');
    mkdirSync(unpacked);
    run('tar', '-xzf', tarball, '--strip-components=1', '-C', unpacked);
    copyFileSync(lockfile, join(unpacked, 'package-lock.json'));
    run('npm', 'ci', '--omit=dev', '--ignore-scripts', '--prefix', unpacked);
    const lockedPackages = new Set(listRuntimePackages(lockfile));
    const installedPackages = listRuntimePackages(join(unpacked, 'node_modules/.package-lock.json'));
    expectEmpty(
      'npm ci installed',
      installedPackages.filter((entry) => !lockedPackages.has(entry)),
    );
    await expectDemo([join(unpacked, 'bin/parley')], options);
    console.log(
      `verify: the unpacked package runs after npm ci, which installed ${installedPackages.length} packages of the lockfile`,
    );

    const parley = ['npx', '--yes', `./${basename(tarball)}`] as const;
    expectText(run(...parley, '--version'), version);
    expectText(run(...parley, '--help'), 'Usage');
    writeFileSync(join(options.cwd, 'demo.json'), JSON.stringify({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } }));
    run(...parley, 'check', 'demo.json');
    await expectDemo(parley, options);
    const [modules = ''] = globSync(join(folder, 'cache/_npx/*/node_modules'));
    if (!existsSync(join(modules, 'parley'))) throw new Error('npx installed no package');
    expectEmpty(
      'npx installed',
      listDevelopmentPackages(unpacked).filter((name) => existsSync(join(modules, name))),
    );
    console.log('verify: npx runs --version, --help, check, serve, and addin');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the environment without the additions of `npm run`, which puts this checkout's Node first, and without settings of
 * Parley.
 */
function createUserEnvironment(): NodeJS.ProcessEnv {
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  const variables = Object.entries(process.env).filter(
    ([name]) => name === 'npm_config_registry' || !/^(?:npm_|PARLEY_)/.test(name),
  );
  return { ...Object.fromEntries(variables), PATH: path.join(delimiter) };
}

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
}

/** Returns the names and versions of the packages in a lockfile of npm that are not only for development. */
function listRuntimePackages(lockfile: string): readonly string[] {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as { packages: Readonly<Record<string, LockedPackage>> };
  const entries = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  return entries.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`);
}

/** Returns the development dependencies that no runtime dependency needs. */
function listDevelopmentPackages(folder: string): readonly string[] {
  const { devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const runtime = new Set(listRuntimePackages(join(folder, 'package-lock.json')).map((entry) => entry.replace(/@[^@]+$/, '')));
  return Object.keys(devDependencies).filter((name) => !runtime.has(name));
}

function expectEmpty(action: string, names: readonly string[]): void {
  if (names.length > 0) throw new Error(`${action} ${names.join(', ')}`);
}

function expectText(output: string, text: string): void {
  if (!output.includes(text)) throw new Error(`The output does not contain ${JSON.stringify(text)}: ${output}`);
}

/**
 * Starts the service and the add-in gateway in front of it, and sends a message to the demo model through both. The sample
 * application answers from documents that a separate process reads.
 */
async function expectDemo(parley: readonly string[], options: CommandOptions): Promise<void> {
  await using service = await start([...parley, 'serve', '--port', '0'], /: (http\S+)\/#key=(\S+)/, options);
  const [, url = '', key = ''] = service.match;
  expectText(await readText(`${url}/health`), '"ok"');
  expectText(await readText(`${url}/`), '<title>');
  const headers = { authorization: `Bearer ${key}` };
  await expectReply(`${url}/v1/chat/completions`, headers, 'demo', 'Hello', 'I am Parley');
  const question = 'How long may I keep a borrowed book?';
  await expectReply(`${url}/v1/chat/completions`, headers, 'sample', question, 'Books may be kept for three weeks');
  expectEmpty('The log contains', /"msg":"[^"]*cannot search[^"]*"/.exec(service.readOutput()) ?? []);
  await using gateway = await start([...parley, 'addin', '--port', '0', '--upstream', url], /add-in: (http\S+)/, options);
  const [, base = ''] = gateway.match;
  await expectReply(`${base}/v1/messages`, { 'x-api-key': key }, 'demo', 'Hello', 'I am Parley');
}

async function readText(url: string): Promise<string> {
  return (await fetch(url)).text();
}

async function expectReply(
  url: string,
  headers: Readonly<Record<string, string>>,
  model: string,
  content: string,
  text: string,
): Promise<void> {
  const body = JSON.stringify({ model, max_tokens: 1000, messages: [{ role: 'user', content }] });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  expectText(await response.text(), text);
}

interface RunningCommand extends AsyncDisposable {
  readonly match: RegExpExecArray;
  /** Returns the output on stdout and stderr so far. */
  readOutput(): string;
}

/** Starts a command and waits until its output matches. Disposal ends the command and its child processes. */
async function start(
  [command = '', ...args]: readonly string[],
  greeting: RegExp,
  options: CommandOptions,
): Promise<RunningCommand> {
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const end = async (): Promise<void> => {
    // npx does not forward signals to the programs that it starts, so the signal goes to the process group.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    await ended;
  };
  let output = '';
  const match = await new Promise<RegExpExecArray | undefined>((resolve) => {
    const onText = (text: string): void => {
      output += text;
      const greetingMatch = greeting.exec(output);
      if (greetingMatch !== null) resolve(greetingMatch);
    };
    child.stdout.setEncoding('utf8').on('data', onText);
    child.stderr.setEncoding('utf8').on('data', onText);
    ended.then(() => resolve(undefined));
    setTimeout(resolve, maxStartMs, undefined).unref();
  });
  if (match === undefined) {
    await end();
    throw new Error(`${[command, ...args].join(' ')} did not start: ${output}`);
  }
  return { match, readOutput: () => output, [Symbol.asyncDispose]: end };
}
