const everyMs = 10;

/**
 * Returns the longest time in milliseconds that this thread worked without a turn of its event loop while `run` ran. It counts
 * CPU time, so other processes of a busy machine do not add to it.
 */
export async function measureEventLoopBlock(run: () => unknown): Promise<number> {
  let maxMs = 0;
  let before = { atMs: performance.now(), cpu: process.threadCpuUsage() };
  const sample = (): void => {
    const now = { atMs: performance.now(), cpu: process.threadCpuUsage() };
    const workedMs = (now.cpu.user - before.cpu.user + now.cpu.system - before.cpu.system) / 1000;
    maxMs = Math.max(maxMs, Math.min(now.atMs - before.atMs, workedMs));
    before = now;
  };
  const timer = setInterval(sample, everyMs);
  try {
    await run();
    sample();
  } finally {
    clearInterval(timer);
  }
  return maxMs;
}

const maxTries = 3;

/**
 * Returns the minimum of up to three measurements of `measureEventLoopBlock`, and stops at the first one below `maxMs`. CPU time
 * includes the garbage collector, which may collect objects of earlier tests.
 */
export async function measureMinEventLoopBlock(maxMs: number, run: () => unknown): Promise<number> {
  let minMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < maxTries && minMs >= maxMs; tries += 1) minMs = Math.min(minMs, await measureEventLoopBlock(run));
  return minMs;
}
