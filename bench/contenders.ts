import type { ChildProcess } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toAddinNginxConfig, toNginxConfig } from './nginx-config.ts';
import { type Command, contenderCore, findFreePort, type ProcessGroup, waitForReply } from './processes.ts';
import { type Call, dialectDeployments, type Manner, manners } from './requests.ts';

/**
 * Measured programs. `direct` is the load generator on the upstream without a gateway. `bare` measures Node.js itself. `before`
 * is another checkout of Parley.
 */
export const contenderNames = ['direct', 'nginx', 'bare', 'portkey', 'before', 'parley'] as const;
export type ContenderName = (typeof contenderNames)[number];

/** Paths, the upstream ports by manner, and the processes of a benchmark. `before` is the path of another checkout. */
export interface Harness {
  root: string;
  before: string | undefined;
  bench: string;
  temporary: string;
  node: string;
  upstreamPorts: Record<Manner, number>;
  processes: ProcessGroup;
}

/** A contender that accepts calls. `child` is absent for `direct`. */
export interface RunningContender {
  name: ContenderName;
  child?: ChildProcess;
  logPath: string;
  getPort(manner: Manner): number;
  getPath(call: Call): string;
  getHeaders(manner: Manner): Record<string, string>;
  stop(): Promise<void>;
}

const upstreamKey = { Authorization: 'Bearer sk-upstream' };
const messagesPath = '/msgapi/v1/messages';
const getGatewayPath = ({ manner, dialect }: Call): string =>
  ({
    chat: `/openai/deployments/${manners[manner].model}/chat/completions`,
    messages: messagesPath,
    responses: '/v1/responses',
  })[dialect];
const callerKey = { 'Api-Key': 'bench-key' };

interface Plan {
  command: Omit<Command, 'core' | 'logPath'>;
  readyPath: string;
  getPath: RunningContender['getPath'];
  getHeaders: RunningContender['getHeaders'];
}

function createNginxCommand(folder: string, config: string): Plan['command'] {
  const configPath = join(folder, 'nginx.conf');
  writeFileSync(configPath, config);
  return { program: 'nginx', args: ['-p', folder, '-e', join(folder, 'start.log'), '-c', configPath], cwd: folder };
}

function planNginx(harness: Harness, folder: string, port: number): Plan {
  const config = toNginxConfig({ folder, port, upstreamPorts: harness.upstreamPorts, isRoot: process.getuid?.() === 0 });
  return {
    command: createNginxCommand(folder, config),
    readyPath: '/ready',
    getPath: getGatewayPath,
    getHeaders: () => callerKey,
  };
}

function planBareNode(harness: Harness, port: number): Plan {
  const args = ['bench/bare-relay.ts', String(port), String(harness.upstreamPorts['at-once'])];
  return {
    command: { program: harness.node, args, cwd: harness.root, environment: { NODE_ENV: 'production' } },
    readyPath: '/',
    getPath: getGatewayPath,
    getHeaders: () => callerKey,
  };
}

function planPortkey(harness: Harness, port: number): Plan {
  const cwd = join(harness.bench, 'peers/portkey');
  const server = join(cwd, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  return {
    command: {
      program: harness.node,
      args: [server, '--headless', `--port=${port}`],
      cwd,
      environment: { NODE_ENV: 'production' },
    },
    readyPath: '/',
    getPath: () => '/v1/chat/completions',
    getHeaders: (manner) => ({
      ...upstreamKey,
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${harness.upstreamPorts[manner]}/v1`,
    }),
  };
}

/** Returns the command that users run to start Parley from a checkout. */
export function toParleyCommand(root: string, args: readonly string[]): Plan['command'] {
  return { program: join(root, 'bin/parley'), args, cwd: root, environment: { LOG_LEVEL: 'info', NODE_ENV: 'production' } };
}

function planParley(root: string, { harness, folder, port }: PlanContext): Plan {
  const toModel = (manner: Manner): [string, object] => [
    manners[manner].model,
    {
      upstreams: [
        { endpoint: `http://127.0.0.1:${harness.upstreamPorts[manner]}/v1`, key: 'sk-upstream', model: 'upstream-model' },
      ],
    },
  ];
  const atOnce = { endpoint: `http://127.0.0.1:${harness.upstreamPorts['at-once']}/v1`, key: 'sk-upstream' };
  const config = {
    models: {
      ...Object.fromEntries((Object.keys(manners) as Manner[]).map(toModel)),
      [dialectDeployments.messages]: { upstreams: [{ ...atOnce, protocol: 'anthropic' }] },
      [dialectDeployments.responses]: { upstreams: [{ ...atOnce, api: 'responses' }] },
    },
    keys: { 'bench-key': { project: 'bench', role: 'default' } },
    roles: { default: { limits: { '*': { minute: 1_000_000_000_000, requestMinute: 1_000_000_000 } } } },
  };
  const configPath = join(folder, 'parley.json');
  writeFileSync(configPath, JSON.stringify(config, null, 2));
  const data = join(folder, 'data');
  mkdirSync(data);
  return {
    command: toParleyCommand(root, ['serve', '--config', configPath, '--port', String(port), '--data', data]),
    readyPath: '/ready',
    getPath: getGatewayPath,
    getHeaders: () => callerKey,
  };
}

const getRoot = (name: ContenderName, { root, before }: Harness): string => (name === 'before' && before ? before : root);

const addinCall = {
  getPath: () => messagesPath,
  getHeaders: () => ({ 'x-api-key': 'sk-upstream', 'anthropic-version': '2023-06-01', Origin: 'https://addin.example' }),
};

/** Plans nginx or Parley as a gateway for browser add-ins in front of one upstream. */
function planAddin(name: ContenderName, { harness, folder, port }: PlanContext, upstreamPort: number): Plan {
  const cwd = getRoot(name, harness);
  const isRoot = process.getuid?.() === 0;
  const command =
    name === 'nginx'
      ? createNginxCommand(folder, toAddinNginxConfig({ folder, port, upstreamPort, isRoot }))
      : toParleyCommand(cwd, ['addin', '--upstream', `http://127.0.0.1:${upstreamPort}`, '--port', String(port)]);
  return { command, readyPath: '/msgapi/v1/models', ...addinCall };
}

/** Parameters of a contender. If `addinManner` is set, it is a gateway for add-ins in front of the upstream of that manner. */
interface PlanContext {
  harness: Harness;
  folder: string;
  port: number;
  addinManner: Manner | undefined;
}

function toPlan(name: Exclude<ContenderName, 'direct'>, context: PlanContext): Plan {
  const { harness, folder, port, addinManner } = context;
  if (addinManner !== undefined) return planAddin(name, context, harness.upstreamPorts[addinManner]);
  if (name === 'nginx') return planNginx(harness, folder, port);
  if (name === 'bare') return planBareNode(harness, port);
  return name === 'portkey' ? planPortkey(harness, port) : planParley(getRoot(name, harness), context);
}

/** Builds the service of a checkout, unless the checkout runs from source. */
function buildService(root: string, node: string): void {
  if (!existsSync(join(root, 'scripts/build-service.ts'))) return;
  const run = spawnSync(node, ['scripts/build-service.ts', '--when-needed'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (run.status !== 0) throw new Error(`the service could not be built in ${root}`);
}

/** Prepares a contender: builds Parley, installs the packages of Portkey, or checks that nginx is installed. */
export function prepareContender(name: ContenderName, harness: Harness): void {
  if (name === 'parley' || name === 'before') buildService(getRoot(name, harness), harness.node);
  if (name === 'nginx' && spawnSync('nginx', ['-v']).error) {
    throw new Error(
      'nginx is not installed (Debian: apt-get install nginx-light). To measure without it, use: --only direct,bare,portkey,parley',
    );
  }
  const folder = join(harness.bench, 'peers/portkey');
  if (name === 'portkey' && !existsSync(join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js'))) {
    const run = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] });
    if (run.status !== 0) throw new Error(`npm ci failed in ${folder}`);
  }
}

/** Starts a contender on a separate core and waits until it is ready. `addinManner` is explained in `Scenario`. */
export async function startContender(
  name: ContenderName,
  harness: Harness,
  addinManner: Manner | undefined,
): Promise<RunningContender> {
  if (name === 'direct') {
    return {
      name,
      logPath: '',
      getPort: (manner) => harness.upstreamPorts[manner],
      getPath: ({ dialect }) => (dialect === 'chat' ? '/v1/chat/completions' : `/v1/${dialect}`),
      getHeaders: () => upstreamKey,
      stop: async () => {},
    };
  }
  const folder = mkdtempSync(join(harness.temporary, `${name}-`));
  const logPath = join(folder, 'output.log');
  const port = await findFreePort();
  const { command, readyPath, getPath: pathFor, getHeaders: headersFor } = toPlan(name, { harness, folder, port, addinManner });
  const child = harness.processes.start({ ...command, core: contenderCore, logPath });
  await waitForReply(name, child, `http://127.0.0.1:${port}${readyPath}`, logPath);
  const stop = async (): Promise<void> => {
    await harness.processes.stop(child);
    rmSync(folder, { recursive: true, force: true });
  };
  return { name, child, logPath, getPort: () => port, getPath: pathFor, getHeaders: headersFor, stop };
}
