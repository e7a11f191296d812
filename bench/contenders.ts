import type { ChildProcess } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toAddinNginxConfig, toNginxConfig } from './nginx-config.ts';
import { type Command, contenderCore, findFreePort, type ProcessGroup, waitForReply } from './processes.ts';
import { type Call, type Manner, manners, natives } from './requests.ts';

/**
 * Measured programs. `direct` is the load generator on the upstream without a gateway. `bare` measures Node.js itself. `before`
 * is another checkout of Parley.
 */
export const contenderNames = ['direct', 'nginx', 'bare', 'portkey', 'before', 'parley'] as const;
export type ContenderName = (typeof contenderNames)[number];

/** Paths of the repository, the other checkout, this folder, and a temporary folder, and the upstream ports by manner. */
export interface Grounds {
  root: string;
  before: string | undefined;
  bench: string;
  temporary: string;
  node: string;
  upstreamPorts: Record<Manner, number>;
  processes: ProcessGroup;
}

/** A contender that accepts calls. `child` is absent for `direct`. */
export interface Running {
  name: ContenderName;
  child?: ChildProcess;
  logPath: string;
  portFor(manner: Manner): number;
  pathFor(call: Call): string;
  headersFor(manner: Manner): Record<string, string>;
  stop(): Promise<void>;
}

const upstreamKey = { Authorization: 'Bearer sk-upstream' };
const messagesPath = '/msgapi/v1/messages';
const gatewayPath = ({ manner, wire }: Call): string =>
  ({
    chat: `/openai/deployments/${manners[manner].model}/chat/completions`,
    messages: messagesPath,
    responses: '/v1/responses',
  })[wire];
const callerKey = { 'Api-Key': 'bench-key' };

interface Plan {
  command: Omit<Command, 'core' | 'logPath'>;
  readyPath: string;
  pathFor: Running['pathFor'];
  headersFor: Running['headersFor'];
}

function nginxCommand(folder: string, config: string): Plan['command'] {
  const configPath = join(folder, 'nginx.conf');
  writeFileSync(configPath, config);
  return { program: 'nginx', args: ['-p', folder, '-e', join(folder, 'start.log'), '-c', configPath], cwd: folder };
}

function nginxPlan(grounds: Grounds, folder: string, port: number): Plan {
  const config = toNginxConfig({ folder, port, upstreamPorts: grounds.upstreamPorts, isRoot: process.getuid?.() === 0 });
  return { command: nginxCommand(folder, config), readyPath: '/ready', pathFor: gatewayPath, headersFor: () => callerKey };
}

function barePlan(grounds: Grounds, port: number): Plan {
  const args = ['bench/bare-relay.ts', String(port), String(grounds.upstreamPorts['at-once'])];
  return {
    command: { program: grounds.node, args, cwd: grounds.root, environment: { NODE_ENV: 'production' } },
    readyPath: '/',
    pathFor: gatewayPath,
    headersFor: () => callerKey,
  };
}

function portkeyPlan(grounds: Grounds, port: number): Plan {
  const cwd = join(grounds.bench, 'peers/portkey');
  const server = join(cwd, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  return {
    command: {
      program: grounds.node,
      args: [server, '--headless', `--port=${port}`],
      cwd,
      environment: { NODE_ENV: 'production' },
    },
    readyPath: '/',
    pathFor: () => '/v1/chat/completions',
    headersFor: (manner) => ({
      ...upstreamKey,
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${grounds.upstreamPorts[manner]}/v1`,
    }),
  };
}

/** Returns the command that users run to start Parley from a checkout. */
export function toParleyCommand(root: string, args: readonly string[]): Plan['command'] {
  return { program: join(root, 'bin/parley'), args, cwd: root, environment: { LOG_LEVEL: 'info', NODE_ENV: 'production' } };
}

function parleyPlan(root: string, { grounds, folder, port }: PlanContext): Plan {
  const toModel = (manner: Manner): [string, object] => [
    manners[manner].model,
    {
      upstreams: [
        { endpoint: `http://127.0.0.1:${grounds.upstreamPorts[manner]}/v1`, key: 'sk-upstream', model: 'upstream-model' },
      ],
    },
  ];
  const atOnce = { endpoint: `http://127.0.0.1:${grounds.upstreamPorts['at-once']}/v1`, key: 'sk-upstream' };
  const config = {
    models: {
      ...Object.fromEntries((Object.keys(manners) as Manner[]).map(toModel)),
      [natives.messages]: { upstreams: [{ ...atOnce, protocol: 'anthropic' }] },
      [natives.responses]: { upstreams: [{ ...atOnce, api: 'responses' }] },
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
    pathFor: gatewayPath,
    headersFor: () => callerKey,
  };
}

const getRoot = (name: ContenderName, { root, before }: Grounds): string => (name === 'before' && before ? before : root);

const addinCall = {
  pathFor: () => messagesPath,
  headersFor: () => ({ 'x-api-key': 'sk-upstream', 'anthropic-version': '2023-06-01', Origin: 'https://addin.example' }),
};

/** Plans the gateway for browser add-ins, of nginx or of Parley, in front of one upstream. */
function addinPlan(name: ContenderName, { grounds, folder, port }: PlanContext, upstreamPort: number): Plan {
  const cwd = getRoot(name, grounds);
  const isRoot = process.getuid?.() === 0;
  const command =
    name === 'nginx'
      ? nginxCommand(folder, toAddinNginxConfig({ folder, port, upstreamPort, isRoot }))
      : toParleyCommand(cwd, ['addin', '--upstream', `http://127.0.0.1:${upstreamPort}`, '--port', String(port)]);
  return { command, readyPath: '/msgapi/v1/models', ...addinCall };
}

/** Parameters of a contender. If `addinManner` is set, it is a gateway for add-ins in front of the upstream of that manner. */
interface PlanContext {
  grounds: Grounds;
  folder: string;
  port: number;
  addinManner: Manner | undefined;
}

function toPlan(name: Exclude<ContenderName, 'direct'>, context: PlanContext): Plan {
  const { grounds, folder, port, addinManner } = context;
  if (addinManner !== undefined) return addinPlan(name, context, grounds.upstreamPorts[addinManner]);
  if (name === 'nginx') return nginxPlan(grounds, folder, port);
  if (name === 'bare') return barePlan(grounds, port);
  return name === 'portkey' ? portkeyPlan(grounds, port) : parleyPlan(getRoot(name, grounds), context);
}

/** Builds the service of a checkout, unless the checkout runs from source. */
function buildService(root: string, node: string): void {
  if (!existsSync(join(root, 'scripts/build-service.ts'))) return;
  const run = spawnSync(node, ['scripts/build-service.ts', '--when-needed'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (run.status !== 0) throw new Error(`the service could not be built in ${root}`);
}

/** Prepares a contender: builds Parley, installs the packages of Portkey, or checks that nginx is installed. */
export function prepareContender(name: ContenderName, grounds: Grounds): void {
  if (name === 'parley' || name === 'before') buildService(getRoot(name, grounds), grounds.node);
  if (name === 'nginx' && spawnSync('nginx', ['-v']).error) {
    throw new Error(
      'nginx is not installed (Debian: apt-get install nginx-light). To leave it out, use: --only direct,bare,portkey,parley',
    );
  }
  const folder = join(grounds.bench, 'peers/portkey');
  if (name === 'portkey' && !existsSync(join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js'))) {
    const run = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] });
    if (run.status !== 0) throw new Error(`npm ci failed in ${folder}`);
  }
}

/** Starts a contender on a separate core and waits until it is ready. `addinManner` is explained in `Scenario`. */
export async function startContender(name: ContenderName, grounds: Grounds, addinManner: Manner | undefined): Promise<Running> {
  if (name === 'direct') {
    return {
      name,
      logPath: '',
      portFor: (manner) => grounds.upstreamPorts[manner],
      pathFor: ({ wire }) => (wire === 'chat' ? '/v1/chat/completions' : `/v1/${wire}`),
      headersFor: () => upstreamKey,
      stop: async () => {},
    };
  }
  const folder = mkdtempSync(join(grounds.temporary, `${name}-`));
  const logPath = join(folder, 'output.log');
  const port = await findFreePort();
  const { command, readyPath, pathFor, headersFor } = toPlan(name, { grounds, folder, port, addinManner });
  const child = grounds.processes.start({ ...command, core: contenderCore, logPath });
  await waitForReply(name, child, `http://127.0.0.1:${port}${readyPath}`, logPath);
  const stop = async (): Promise<void> => {
    await grounds.processes.stop(child);
    rmSync(folder, { recursive: true, force: true });
  };
  return { name, child, logPath, portFor: () => port, pathFor, headersFor, stop };
}
