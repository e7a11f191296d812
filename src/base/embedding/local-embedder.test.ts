import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { BoundedCache } from '../cache/bounded-cache.ts';
import { EmbedderPool, LocalEmbedder } from './local-embedder.ts';

const neverAborted = new AbortController().signal;
const shared = new LocalEmbedder();
afterAll(() => shared.close());

/** A thread that counts the texts it receives, exits on "crash" and "leave", and delays each text that starts with "slow". */
const fakeWorker = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    let count = 0;
    parentPort.on('message', async (texts) => {
      const vectors = [];
      for (const text of texts) {
        count += 1;
        if (text === 'crash') throw new Error('crashed on purpose');
        if (text === 'leave') process.exit(0);
        if (text.startsWith('slow')) await new Promise((resolve) => setTimeout(resolve, 50));
        vectors.push(Float32Array.of(count));
      }
      parentPort.postMessage(vectors);
    });
  `)}`,
);

function dot(left: Float32Array = new Float32Array(), right: Float32Array = new Float32Array()): number {
  return left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
}

describe('LocalEmbedder with the real model', () => {
  it('returns vectors of 384 dimensions and length 1 in the order of the texts', async () => {
    const vectors = await shared.embed(['a dog', 'a puppy', 'the tax return', 'a dog'], neverAborted);
    expect(vectors.map((vector) => vector.length)).toEqual([384, 384, 384, 384]);
    for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 4);
    const [dog, puppy, tax, again] = vectors;
    expect(dot(dog, puppy)).toBeGreaterThan(dot(dog, tax) + 0.3);
    expect(again).toEqual(dog);
  });

  it('accepts empty texts, no texts, unusual characters, and a megabyte of text', async () => {
    expect(await shared.embed([], neverAborted)).toEqual([]);
    const vectors = await shared.embed(['', '\u0000\ud800 \u{1f600}', 'x '.repeat(500_000), '猫'.repeat(10_000)], neverAborted);
    for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 4);
  });

  it('answers many concurrent requests', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => `text number ${index}`);
    const together = await Promise.all(texts.map((text) => shared.embed([text], neverAborted)));
    const inOne = await shared.embed(texts, neverAborted);
    expect(together.flat()).toEqual(inOne);
  });
});

describe('LocalEmbedder.embed', () => {
  it('rejects immediately when it is aborted, and the next request is answered', async () => {
    const embedder = new LocalEmbedder({ worker: fakeWorker });
    const caller = new AbortController();
    const dropped = embedder.embed(['slow 1', 'slow 2', 'slow 3'], caller.signal);
    const next = embedder.embed(['next'], neverAborted);
    const ends: string[] = [];
    const ended = [dropped.catch(() => ends.push('dropped')), next.then(() => ends.push('next'))];
    caller.abort(new Error('client disconnected'));
    await expect(dropped).rejects.toThrow('client disconnected');
    expect(await next).toEqual([Float32Array.of(2)]);
    await Promise.all(ended);
    expect(ends).toEqual(['dropped', 'next']);
    await embedder.close();
  });

  it('rejects if the signal is already aborted', async () => {
    await expect(shared.embed(['a'], AbortSignal.abort(new Error('client disconnected')))).rejects.toThrow('client disconnected');
  });

  it('answers a short request before a long one ends', async () => {
    const embedder = new LocalEmbedder({ worker: fakeWorker });
    const order: string[] = [];
    const long = embedder
      .embed(
        Array.from({ length: 10 }, (_, index) => `slow ${index}`),
        neverAborted,
      )
      .then(() => order.push('long'));
    const short = embedder.embed(['short'], neverAborted).then(() => order.push('short'));
    await Promise.all([long, short]);
    expect(order).toEqual(['short', 'long']);
    await embedder.close();
  });

  it('rejects too many texts with the numbers in the message', async () => {
    const embedder = new LocalEmbedder({ worker: fakeWorker, maxWaitingTexts: 3 });
    const first = embedder.embed(['slow 1', 'slow 2'], neverAborted);
    await expect(embedder.embed(['a', 'b'], neverAborted)).rejects.toMatchObject({
      kind: 'busy',
      message: 'The embedder accepts 3 waiting texts, and 2 are already waiting.',
    });
    await first;
    expect(await embedder.embed(['a', 'b'], neverAborted)).toHaveLength(2);
    await embedder.close();
  });

  it('returns cached vectors while they are in the cache', async () => {
    const embedder = new LocalEmbedder({
      worker: fakeWorker,
      recent: new BoundedCache({ maxBytes: 280, countBytes: ({ byteLength }) => byteLength }),
    });
    expect((await embedder.embed(['a', 'b', 'a'], neverAborted)).map(([value]) => value)).toEqual([1, 2, 1]);
    expect((await embedder.embed(['c'], neverAborted)).map(([value]) => value)).toEqual([3]);
    expect((await embedder.embed(['a', 'b'], neverAborted)).map(([value]) => value)).toEqual([1, 4]);
    await embedder.close();
  });
});

describe('EmbedderPool', () => {
  const many = Array.from({ length: 41 }, (_, index) => `text ${index}`);

  it('returns the vectors of a long request in the order of its texts', async () => {
    const pool = new EmbedderPool(2);
    const [left, right] = await Promise.all([pool.embed(many, neverAborted), shared.embed(many, neverAborted)]);
    expect(left).toEqual(right);
    await pool.close();
  });

  it('distributes a long request and answers a short one concurrently', async () => {
    const pool = new EmbedderPool(2, { worker: fakeWorker });
    const slow = many.map((text) => `slow ${text}`);
    const order: string[] = [];
    const long = pool.embed(slow, neverAborted).then((vectors) => {
      order.push('long');
      return vectors.flatMap(([value]) => value);
    });
    const short = pool.embed(['short'], neverAborted).then(() => order.push('short'));
    const counts = await long;
    await short;
    // Each thread counts from 1.
    expect(counts.filter((count) => count === 1).length).toBeLessThanOrEqual(2);
    expect(new Set(counts).size).toBeLessThan(slow.length);
    expect(order).toEqual(['short', 'long']);
    await pool.close();
  });

  it('fails the request if one thread exits, and works afterwards', async () => {
    const pool = new EmbedderPool(2, { worker: fakeWorker });
    await expect(pool.embed([...many, 'crash'], neverAborted)).rejects.toMatchObject({ kind: 'crashed' });
    expect(await pool.embed(many, neverAborted)).toHaveLength(many.length);
    await pool.close();
  });
});

describe('The thread of LocalEmbedder', () => {
  it.each(['crash', 'leave'])('fails the waiting requests if it exits (%s), and restarts with the next request', async (end) => {
    const embedder = new LocalEmbedder({ worker: fakeWorker });
    const [left, right] = await Promise.allSettled([
      embedder.embed([end], neverAborted),
      embedder.embed(['waiting'], neverAborted),
    ]);
    expect(left).toMatchObject({ status: 'rejected', reason: { kind: 'crashed' } });
    expect(right).toMatchObject({ status: 'rejected', reason: { kind: 'crashed' } });
    expect(await embedder.embed(['again'], neverAborted)).toEqual([Float32Array.of(1)]);
    await embedder.close();
  });

  it('is stopped by close, which fails waiting and later requests', async () => {
    const embedder = new LocalEmbedder({ worker: fakeWorker });
    const waiting = embedder.embed(['slow'], neverAborted);
    const outcome = expect(waiting).rejects.toMatchObject({ kind: 'closed' });
    await embedder.close();
    await outcome;
    await expect(embedder.embed(['late'], neverAborted)).rejects.toMatchObject({ kind: 'closed' });
    await embedder.close();
  });

  it('is stopped when it was idle for a while, and restarts with the next request', async () => {
    const embedder = new LocalEmbedder({ worker: fakeWorker, idleMs: 1 });
    expect(await embedder.embed(['slow 1'], neverAborted)).toEqual([Float32Array.of(1)]);
    await vi.waitFor(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await embedder.embed([`another ${performance.now()}`], neverAborted)).toEqual([Float32Array.of(1)]);
    });
    await embedder.close();
  });

  it('is not stopped during work, regardless of its duration', async () => {
    const embedder = new LocalEmbedder({ worker: fakeWorker, idleMs: 1 });
    const vectors = await embedder.embed(['slow 1', 'slow 2', 'slow 3'], neverAborted);
    expect(vectors).toEqual([Float32Array.of(1), Float32Array.of(2), Float32Array.of(3)]);
    await embedder.close();
  });

  it('keeps the process alive only while a request waits', async () => {
    const code = `
      import { LocalEmbedder } from ${JSON.stringify(new URL('./local-embedder.ts', import.meta.url).href)};
      const embedder = new LocalEmbedder();
      const [vector] = await embedder.embed(['hello'], new AbortController().signal);
      console.log(vector.length);
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { timeout: 15_000 });
    expect(stdout.trim()).toBe('384');
  });
});
