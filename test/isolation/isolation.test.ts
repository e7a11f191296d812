import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { FairQueue } from '#base/isolation/fair-queue.ts';
import { type IsolationBounds, IsolationError, runIsolated } from '#base/isolation/run-isolated.ts';
import type { Deed } from './program.ts';

const program = new URL('./program.ts', import.meta.url);
const roomy: IsolationBounds = { timeoutMs: 50_000, maxMemoryMb: 300 };

function told(task: Deed, { bounds = roomy, signal = new AbortController().signal, bytes = new Uint8Array(0) } = {}) {
  return runIsolated<Deed>({ program, task, bytes, bounds, signal });
}

async function reasonOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'it went well',
    (thrown) => (thrown instanceof IsolationError ? [thrown.reason, thrown.message] : thrown),
  );
}

describe('a process of its own', () => {
  it('gets bytes, and gives parts and an end', async () => {
    expect(await told('echo', { bytes: new Uint8Array(5_000_000) })).toEqual([5_000_000, 'done']);
  });

  it('knows nothing of the environment', async () => {
    expect(await told('tell the environment')).toEqual([[]]);
  });

  it('reads no file, opens no socket, and starts nothing', async () => {
    await using server = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [outcomes] = (await told('break out', { bytes: Buffer.from(String(port)) })) as [Record<string, unknown>];
    expect(Object.keys(outcomes)).toHaveLength(12);
    expect(outcomes).toEqual(Object.fromEntries(Object.keys(outcomes).map((name) => [name, 'ERR_ACCESS_DENIED'])));
  });

  it.each(['hoard', 'fill the heap'] as const)('that takes too much memory is ended: %s', async (deed) => {
    expect(await reasonOf(told(deed))).toEqual(['memory', 'it needs more than 300 MiB']);
  });

  it('that takes too long is ended', async () => {
    expect(await reasonOf(told('spin', { bounds: { ...roomy, timeoutMs: 1500 } }))).toEqual(['late', 'it took more than 1.5 s']);
  });

  it('that fails or leaves is told of', async () => {
    expect(await reasonOf(told('throw'))).toEqual(['crashed', 'its process ended unexpectedly']);
    expect(await reasonOf(told('leave'))).toEqual(['crashed', 'its process ended unexpectedly']);
  });

  it('nobody waits for any more is ended', async () => {
    const leaving = new AbortController();
    const work = reasonOf(told('spin', { signal: leaving.signal }));
    leaving.abort('gone');
    expect(await work).toBe('gone');
  });
});

/** Work that is over when the test says so. */
function deferred() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<void>((resolve) => {
      begun.push(name);
      ends.set(name, resolve);
    });
  const settle = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, work, settle };
}

describe('a fair queue', () => {
  it('has what one owner sends wait in line, and lets others go first', async () => {
    const queue = new FairQueue({ slots: 2 });
    const { begun, work, settle } = deferred();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void queue.run(name.slice(0, 1), work(name));
    await settle('');
    expect(begun).toEqual(['a1', 'b1']);
    await settle('a1');
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    await settle('b1');
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
    await settle('a2');
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  });

  it('refuses what is too much of one owner, and nothing of others', async () => {
    const queue = new FairQueue({ slots: 1, maxWaiting: 1 });
    const { begun, work, settle } = deferred();
    void queue.run('a', work('a1'));
    void queue.run('a', work('a2'));
    expect(await reasonOf(queue.run('a', work('a3')))).toMatchObject(['busy', expect.stringContaining('try again later')]);
    void queue.run('b', work('b1'));
    await settle('a1');
    expect(begun).toEqual(['a1', 'b1']);
    await settle('b1');
    expect(begun).toEqual(['a1', 'b1', 'a2']);
  });

  it('forgets who leaves the line', async () => {
    const queue = new FairQueue({ slots: 1 });
    const { begun, work, settle } = deferred();
    const leaving = new AbortController();
    void queue.run('a', work('a1'));
    const left = queue.run('b', work('b1'), leaving.signal).catch((reason) => reason);
    leaving.abort('gone');
    expect(await left).toBe('gone');
    await settle('a1');
    void queue.run('c', work('c1'));
    await settle('');
    expect(begun).toEqual(['a1', 'c1']);
  });
});
