import { parentPort, workerData } from 'node:worker_threads';

/*
 * Runs in a separate thread of an isolated process. Kills the process if it exceeds its memory limit or if its parent is gone.
 * Plain JavaScript like sqlite-worker.js, because a thread that loads TypeScript takes longer to start and more memory.
 */
const { maxBytes, parent } = workerData;
const everyMs = 5;

setInterval(() => {
  if (process.memoryUsage.rss() > maxBytes || process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, everyMs);
parentPort?.postMessage('watching');
