import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toParleyCommand } from '../contenders.ts';
import { findFreePort, isAlive, waitForReply } from '../processes.ts';

export interface NodeOptions {
  readonly root: string;
  /** If absent, the node uses its embedded default with the sample. */
  readonly configuration: object | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

/** A node with its own data folder, started like a node of a user. */
export interface SoakedNode {
  readonly pid: number;
  readonly port: number;
  readonly isAlive: () => boolean;
  /** Returns the output so far. */
  readonly readOutput: () => string;
  readonly stop: () => Promise<void>;
}

export async function startNode({ root, configuration, environment }: NodeOptions): Promise<SoakedNode> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-soak-'));
  const [logPath, configPath, port] = [join(folder, 'output.log'), join(folder, 'parley.json'), await findFreePort()];
  if (configuration !== undefined) writeFileSync(configPath, JSON.stringify(configuration));
  const configured = configuration === undefined ? [] : ['--config', configPath];
  const { program, args } = toParleyCommand(root, [
    'serve',
    '--port',
    String(port),
    '--data',
    join(folder, 'data'),
    ...configured,
  ]);
  const log = openSync(logPath, 'a');
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '/',
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    ...environment,
  };
  const child = spawn(program, [...args], { cwd: root, env, stdio: ['ignore', log, log] });
  closeSync(log);
  await waitForReply('the node', child, `http://127.0.0.1:${port}/ready`, logPath);
  return {
    pid: child.pid ?? 0,
    port,
    isAlive: () => isAlive(child),
    readOutput: () => readFileSync(logPath, 'utf8'),
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (!isAlive(child)) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  await exited;
}
