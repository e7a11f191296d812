import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install } from './install.ts';
import { runCommand } from './run-command.ts';
import { installPythonPackages } from './runtimes.ts';
import type { Stage } from './stage.ts';

const programsFolder = join(import.meta.dirname, '..');
const nodeFolder = join(programsFolder, 'node');

interface Step {
  /** Name in failure reports. */
  readonly name: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Passes the description at `/openapi.json` to linters and to client generators. The generated clients are compiled or imported
 * completely, and call the service. Returns one line for each failure.
 */
export async function checkDescription(stage: Stage): Promise<string[]> {
  const [python, node] = [await installPythonPackages('generator'), await installNpmTools()];
  const folder = await mkdtemp(join(tmpdir(), 'parley-description-'));
  try {
    await fill(folder, { url: `${stage.world.url}/openapi.json`, node });
    const [inPython, inNode] = await Promise.all([
      runSteps(toPythonSteps({ folder, bin: join(python, 'bin') }), folder, stage),
      runSteps(toNodeSteps(folder), folder, stage),
    ]);
    return [...inPython, ...inNode];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function installNpmTools(): Promise<string> {
  const [manifest, lock] = [join(nodeFolder, 'package.json'), join(nodeFolder, 'package-lock.json')];
  return install({
    name: 'node-description',
    inputs: [process.version, await readFile(lock, 'utf8')],
    toSteps: (into) => [
      { command: ['cp', manifest, lock, into] },
      { command: ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder: into },
    ],
  });
}

/** Writes the description and the program that is compiled with the generated code. */
async function fill(folder: string, { url, node }: { readonly url: string; readonly node: string }): Promise<void> {
  await writeFile(join(folder, 'openapi.json'), await (await fetch(url)).text());
  await cp(join(nodeFolder, 'fetch-client.ts'), join(folder, 'fetch-client.ts'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(folder, '.spectral.json'), JSON.stringify({ extends: ['spectral:oas'] }));
  await symlink(join(node, 'node_modules'), join(folder, 'node_modules'));
}

function toPythonSteps({ folder, bin }: { readonly folder: string; readonly bin: string }): readonly Step[] {
  const generate = ['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'generated'];
  return [
    {
      name: 'openapi-python-client',
      command: [join(bin, 'openapi-python-client'), ...generate],
      environment: { PATH: `${bin}:${process.env.PATH ?? ''}` },
    },
    {
      name: 'the client of openapi-python-client',
      command: [join(bin, 'python'), '-B', join(programsFolder, 'python/generated_client.py'), folder],
    },
  ];
}

function toNodeSteps(folder: string): readonly Step[] {
  const toCommand = (tool: string, ...args: readonly string[]) => [join(folder, 'node_modules/.bin', tool), ...args];
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--allowImportingTsExtensions'];
  return [
    {
      name: 'redocly, recommended rules',
      command: toCommand('redocly', 'lint', '--extends=recommended', '--format=summary', 'openapi.json'),
      environment: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
    {
      name: 'spectral, recommended rules',
      command: toCommand('spectral', 'lint', '--quiet', '--fail-severity=error', 'openapi.json'),
    },
    { name: 'openapi-typescript', command: toCommand('openapi-typescript', 'openapi.json', '--output', 'description.ts') },
    {
      name: 'the types of openapi-typescript',
      command: toCommand('tsc', ...strict, '--target', 'es2022', '--module', 'nodenext', '--types', 'node', 'fetch-client.ts'),
    },
    { name: 'the client of openapi-fetch', command: [process.execPath, 'fetch-client.ts'] },
  ];
}

/** Runs the steps in order until one fails. A client checks the results of its calls itself. */
async function runSteps(steps: readonly Step[], folder: string, { world, turns }: Stage): Promise<string[]> {
  for (const { name, command, environment = {} } of steps) {
    const options = { folder, environment: { ...world.environment, ...environment }, isBare: true, timeoutMs: 120_000 };
    const { code, stdout, stderr } = await turns.take(name, () => runCommand(command, options));
    if (code !== 0) return [`/openapi.json, ${name}: it ended with ${code}: ${`${stdout}${stderr}`.slice(-1500)}`];
  }
  return [];
}
