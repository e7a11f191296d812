import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { waitUntilListening } from './listening.ts';
import { startPgBouncer } from './start-pgbouncer.ts';
import { startPostgres } from './start-postgres.ts';
import { startRedis } from './start-redis.ts';
import { startRedisCluster } from './start-redis-topology.ts';

/** A server that all tests of a run share. */
interface SharedServer extends AsyncDisposable {
  readonly url: string;
}

/** Functions that start the servers, by the name that tests use. A function finds the other servers of the run. */
const starters = {
  postgres: () => startPostgres(),
  pgbouncer: async (find) => startPgBouncer(await find('postgres'), 'transaction'),
  redis: () => startRedis(),
  'redis-cluster': () => startRedisCluster({ hasReplicas: false }),
} satisfies Record<string, (find: (name: string) => Promise<string>) => Promise<SharedServer>>;

export type ServerName = keyof typeof starters;

declare module 'vitest' {
  interface ProvidedContext {
    /** URL at which `getSharedServer` requests servers. */
    servers: string;
  }
}

/** Builds the service, so that tests start the same process as users. */
function buildService(): void {
  const run = spawnSync(process.execPath, ['scripts/build-service.ts', '--when-needed'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (run.status !== 0) throw new Error('the service could not be built');
}

/** Starts a server for the complete run when the first test requests it. Runs without such tests do not wait for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  buildService();
  const started = new Map<string, Promise<SharedServer>>();
  const find = async (name: string): Promise<string> => {
    if (!Object.hasOwn(starters, name)) throw new Error(`there is no server named ${name}`);
    const starting = started.get(name) ?? starters[name as ServerName](find);
    started.set(name, starting);
    return (await starting).url;
  };
  const httpServer = createServer((request, response) => {
    find(String(request.url).slice(1)).then(
      (url) => response.end(url),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  await waitUntilListening(httpServer.listen(0, '127.0.0.1'));
  project.provide('servers', `http://127.0.0.1:${(httpServer.address() as AddressInfo).port}`);
  return async () => {
    httpServer.close();
    for (const outcome of (await Promise.allSettled(started.values())).toReversed()) {
      if (outcome.status === 'fulfilled') await outcome.value[Symbol.asyncDispose]();
    }
  };
}
