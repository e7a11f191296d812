import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { type IsolatedPart, type IsolatedRequest, readyMessage } from './run-isolated.ts';

/** Sends a part of the result to the parent process. Resolves when it is sent. */
export type SendPart = (part: unknown) => Promise<void>;

/**
 * Entry point of a program for `runIsolated`. Call it once. `work` receives the task and the bytes and returns the last part of
 * the result. It can send earlier parts with `sendPart`, because one large message would block the event loop of the parent.
 */
export async function serveIsolated<Task>(
  work: (task: Task, bytes: Uint8Array<ArrayBuffer>, sendPart: SendPart) => Promise<unknown>,
): Promise<void> {
  process.once('disconnect', () => process.exit());
  const [[request], bytes] = await Promise.all([once(process, 'message'), buffer(process.stdin)]);
  const { task, maxMemoryMb } = request as IsolatedRequest;
  await watchMemory(maxMemoryMb);
  process.send?.(readyMessage);
  process.permission.drop('worker');
  const sendPart = (part: unknown, isLast = false): Promise<void> =>
    new Promise((resolve) => process.send?.({ part, isLast } satisfies IsolatedPart, () => resolve()));
  const ownBytes = new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  await sendPart(await work(task as Task, ownBytes, (part) => sendPart(part)), true);
  process.exit();
}

/** Watches the memory from a separate thread, because the work may block this one. */
async function watchMemory(maxMemoryMb: number): Promise<void> {
  const watch = new Worker(new URL('./memory-watch.js', import.meta.url), {
    workerData: { maxBytes: maxMemoryMb * 1024 ** 2, parent: process.ppid },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  });
  watch.unref();
  await once(watch, 'message');
}
