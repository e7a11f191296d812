import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { queryPostgres } from '#test/query-postgres.ts';

/** Process of the Redis at an address. */
export async function redisProcess(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
  } finally {
    redis.disconnect();
  }
}

/** The first process of the PostgreSQL at an address; the others are its children. */
export async function postgresProcess(url: string): Promise<number> {
  // Of its own background processes one is always there.
  const [row] = await queryPostgres(url, "select pid from pg_stat_activity where backend_type = 'checkpointer'");
  return readParent(Number(row?.pid));
}

/** A process and all below it. */
export function listFamily(pid: number): readonly number[] {
  return [pid, ...listChildren(pid).flatMap(listFamily)];
}

/** None of a process that has ended meanwhile. */
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

/** Sends a signal to all of them that are still there. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}
