import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const buildTools = ['rolldown', 'vite', 'vitest', 'typescript', '@biomejs/biome', 'fastify', 'react'];
const maxStartMs = 120_000;

/** Where commands run. */
interface Place {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Installs the package from the registry as users do, with an empty npm cache, and runs it: with `npx` in an empty folder,
 * and unpacked with `npm ci`. Throws if a command fails or a build tool is installed.
 */
export async function verifyPackage(tarball: string, version: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-verify-'));
  try {
    // npm run puts this checkout's Node first. Users have another one.
    const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
    const { HOME } = process.env;
    const env = { HOME, PATH: path.join(delimiter), npm_config_cache: join(folder, 'cache'), npm_config_loglevel: 'error' };
    const place = { cwd: join(folder, 'empty'), env };
    mkdirSync(place.cwd);
    const run = (command: string, ...args: readonly string[]): string =>
      execFileSync(command, args, { ...place, encoding: 'utf8' });
    console.log(`verify: Node ${run('node', '--version').trim()}, npm ${run('npm', '--version').trim()}`);

    const npx = ['npx', '--yes', tarball];
    expectText(run('npx', '--yes', tarball, '--version'), version);
    expectText(run('npx', '--yes', tarball, '--help'), 'Usage');
    writeFileSync(join(place.cwd, 'demo.json'), JSON.stringify({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } }));
    run('npx', '--yes', tarball, 'check', 'demo.json');
    await expectDemo(npx, place);
    expectNoBuildTools(join(folder, 'cache/_npx/*/node_modules'));
    console.log('verify: npx runs --version, --help, check, serve, and addin');

    const unpacked = join(folder, 'unpacked');
    mkdirSync(unpacked);
    run('tar', '-xzf', tarball, '--strip-components=1', '-C', unpacked);
    run('npm', 'ci', '--omit=dev', '--ignore-scripts', '--prefix', unpacked);
    await expectDemo([join(unpacked, 'bin/parley')], place);
    expectNoBuildTools(join(unpacked, 'node_modules'));
    console.log('verify: the unpacked package runs serve and addin after npm ci');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function expectText(output: string, text: string): void {
  if (!output.includes(text)) throw new Error(`The output does not contain ${JSON.stringify(text)}: ${output}`);
}

function expectNoBuildTools(pattern: string): void {
  const folders = globSync(pattern);
  if (folders.length === 0) throw new Error(`${pattern} does not exist`);
  const found = folders.flatMap((folder) => buildTools.filter((name) => existsSync(join(folder, name))));
  if (found.length > 0) throw new Error(`${pattern} contains ${found.join(', ')}`);
}

/** Starts the service and the add-in gateway in front of it, and sends a message to the demo model through both. */
async function expectDemo(parley: readonly string[], place: Place): Promise<void> {
  await using service = await start([...parley, 'serve', '--port', '0'], /: (http\S+)\/#key=(\S+)/, place);
  const [, url = '', key = ''] = service.match;
  await expectReply(`${url}/v1/chat/completions`, { authorization: `Bearer ${key}` });
  const page = await fetch(`${url}/`);
  expectText(await page.text(), '<title>');
  await using gateway = await start([...parley, 'addin', '--port', '0', '--upstream', url], /add-in: (http\S+)/, place);
  const [, base = ''] = gateway.match;
  await expectReply(`${base}/v1/messages`, { 'x-api-key': key });
}

async function expectReply(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const body = JSON.stringify({ model: 'demo', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  expectText(await response.text(), 'I am Parley');
}

interface Started extends AsyncDisposable {
  readonly match: RegExpExecArray;
}

/** Starts a command and waits until its output matches. Disposal ends the command and its child processes. */
async function start([command = '', ...args]: readonly string[], greeting: RegExp, place: Place): Promise<Started> {
  const child = spawn(command, args, { ...place, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
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
      const found = greeting.exec(output);
      if (found !== null) resolve(found);
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
  return { match, [Symbol.asyncDispose]: end };
}
