import { parentPort, workerData } from 'node:worker_threads';

/*
 * Runs in a thread beside the work of an isolated process, and ends that process when it takes more memory than it may, or when nobody waits for it
 * any more. JavaScript, as sqlite-worker.js is: a thread that reads TypeScript takes longer to start and more memory.
 */
const { maxBytes, parent } = workerData;
const everyMs = 5;

setInterval(() => {
  if (process.memoryUsage.rss() > maxBytes || process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, everyMs);
parentPort?.postMessage('watching');
