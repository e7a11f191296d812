import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { queryPostgres } from '#test/query-postgres.ts';

/** Returns the process ID of the Redis server at an address. */
export async function redisProcess(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
  } finally {
    redis.disconnect();
  }
}

/** Returns the main process of the PostgreSQL server at an address. All other processes are its children. */
export async function postgresProcess(url: string): Promise<number> {
  // The checkpointer always runs.
  const [row] = await queryPostgres(url, "select pid from pg_stat_activity where backend_type = 'checkpointer'");
  return readParent(Number(row?.pid));
}

/** Returns a process and all of its descendants. */
export function listFamily(pid: number): readonly number[] {
  return [pid, ...listChildren(pid).flatMap(listFamily)];
}

/** Returns no children if the process has ended. */
function listChildren(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function readParent(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** Sends a signal to all processes that still run. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended.
    }
  }
}
