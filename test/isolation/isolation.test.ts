import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FairQueue } from '#base/isolation/fair-queue.ts';
import { type IsolationBounds, IsolationError, runIsolated } from '#base/isolation/isolated-process.ts';
import type { Action } from './program.ts';

const program = new URL('./program.ts', import.meta.url);
const looseBounds: IsolationBounds = { timeoutMs: 50_000, maxMemoryMb: 300 };

function runTask(task: Action, { bounds = looseBounds, signal = new AbortController().signal, bytes = new Uint8Array(0) } = {}) {
  return runIsolated<Action>({ program, task, bytes, bounds, signal });
}

async function getRejection(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'it went well',
    (error) => (error instanceof IsolationError ? [error.reason, error.message] : error),
  );
}

describe('an isolated process', () => {
  it('receives bytes and returns parts and a result', async () => {
    expect(await runTask('echo', { bytes: new Uint8Array(5_000_000) })).toEqual([5_000_000, 'done']);
  });

  it('has no environment variables', async () => {
    expect(await runTask('tell the environment')).toEqual([[]]);
  });

  it('cannot read files, open sockets, or start processes', async () => {
    await using server = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [outcomes] = (await runTask('break out', { bytes: Buffer.from(String(port)) })) as [Record<string, unknown>];
    expect(Object.keys(outcomes)).toHaveLength(12);
    expect(outcomes).toEqual(Object.fromEntries(Object.keys(outcomes).map((name) => [name, 'ERR_ACCESS_DENIED'])));
  });

  it.each(['hoard', 'fill the heap'] as const)('is killed if it exceeds the memory limit: %s', async (action) => {
    expect(await getRejection(runTask(action))).toEqual(['memory', 'it needs more than 300 MiB']);
  });

  it('is killed after the timeout', async () => {
    expect(await getRejection(runTask('spin', { bounds: { ...looseBounds, timeoutMs: 1500 } }))).toEqual([
      'late',
      'it took more than 1.5 s',
    ]);
  });

  it('rejects with a reason if it throws or exits', async () => {
    expect(await getRejection(runTask('throw'))).toEqual(['crashed', 'its process ended unexpectedly']);
    expect(await getRejection(runTask('leave'))).toEqual(['crashed', 'its process ended unexpectedly']);
  });

  it('rejects as unavailable if another program ends it', async () => {
    expect(await getRejection(runTask('get a signal'))).toEqual(['unavailable', 'its process was ended by SIGTERM']);
  });

  it('rejects as unavailable if its program cannot be loaded', async () => {
    const { signal } = new AbortController();
    const missing = new URL('./missing.ts', import.meta.url);
    const work = runIsolated({ program: missing, task: 'echo', bytes: new Uint8Array(0), bounds: looseBounds, signal });
    expect(await getRejection(work)).toEqual(['unavailable', 'its process cannot be started']);
  });

  it('is killed if its signal aborts', async () => {
    const controller = new AbortController();
    const work = getRejection(runTask('spin', { signal: controller.signal }));
    controller.abort('gone');
    expect(await work).toBe('gone');
  });

  it('is not in the process group of its parent, so that a signal to the group does not end it', async () => {
    const before = await listGroupLeaders();
    const controller = new AbortController();
    const work = getRejection(runTask('spin', { signal: controller.signal }));
    const during = await listGroupLeaders();
    controller.abort('gone');
    await work;
    expect(during.filter((pid) => !before.includes(pid))).toHaveLength(1);
  });
});

/** Returns the children of this process that lead a process group. The shared browser of other tests is one of them. */
async function listGroupLeaders(): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'ppid=,pid=,pgid=']);
  const children = stdout
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .filter(([parent]) => parent === String(process.pid));
  return children.flatMap(([, pid = '', group]) => (pid === group ? [pid] : []));
}

/** Creates work that ends when the test calls `settle`. */
function deferred() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<void>((resolve) => {
      started.push(name);
      ends.set(name, resolve);
    });
  const settle = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { started, work, settle };
}

describe('FairQueue', () => {
  it('queues the work of one owner and runs work of other owners first', async () => {
    const queue = new FairQueue({ slots: 2 });
    const { started, work, settle } = deferred();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void queue.run(name.slice(0, 1), work(name));
    await settle('');
    expect(started).toEqual(['a1', 'b1']);
    await settle('a1');
    expect(started).toEqual(['a1', 'b1', 'c1']);
    await settle('b1');
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2']);
    await settle('a2');
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  });

  it('rejects work of an owner with too much waiting, and accepts work of other owners', async () => {
    const queue = new FairQueue({ slots: 1, maxWaiting: 1 });
    const { started, work, settle } = deferred();
    void queue.run('a', work('a1'));
    void queue.run('a', work('a2'));
    expect(await getRejection(queue.run('a', work('a3')))).toMatchObject(['busy', expect.stringContaining('Try again later')]);
    void queue.run('b', work('b1'));
    await settle('a1');
    expect(started).toEqual(['a1', 'b1']);
    await settle('b1');
    expect(started).toEqual(['a1', 'b1', 'a2']);
  });

  it('drops waiting work whose signal aborts', async () => {
    const queue = new FairQueue({ slots: 1 });
    const { started, work, settle } = deferred();
    const controller = new AbortController();
    void queue.run('a', work('a1'));
    const cancelled = queue.run('b', work('b1'), controller.signal).catch((reason) => reason);
    controller.abort('gone');
    expect(await cancelled).toBe('gone');
    await settle('a1');
    void queue.run('c', work('c1'));
    await settle('');
    expect(started).toEqual(['a1', 'c1']);
  });
});
