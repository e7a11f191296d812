import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What the process says of itself. */
export interface ProcessReadings {
  readonly cpuUserSeconds: number;
  readonly cpuSystemSeconds: number;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  /** With the room it keeps to grow. */
  readonly heapBytes: number;
  readonly arrayBuffersBytes: number;
  /** Outside of the heap, array buffers left out. */
  readonly externalBytes: number;
  /** 99th percentile since the reading before. */
  readonly eventLoopDelaySeconds: number;
  readonly uptimeSeconds: number;
}

const resolutionMs = 20;

/** Watches the event loop from now on; each call of `read` starts its percentile anew. */
export function watchProcess(): { read: () => ProcessReadings; stop: () => void } {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  return {
    read() {
      const cpu = process.cpuUsage();
      const memory = process.memoryUsage();
      const p99Ms = delay.count === 0 ? 0 : Math.max(0, delay.percentile(99) / 1e6 - resolutionMs);
      delay.reset();
      return {
        cpuUserSeconds: cpu.user / 1e6,
        cpuSystemSeconds: cpu.system / 1e6,
        residentBytes: memory.rss,
        heapUsedBytes: memory.heapUsed,
        heapBytes: memory.heapTotal,
        arrayBuffersBytes: memory.arrayBuffers,
        externalBytes: memory.external - memory.arrayBuffers,
        eventLoopDelaySeconds: p99Ms / 1000,
        uptimeSeconds: process.uptime(),
      };
    },
    stop: () => void delay.disable(),
  };
}
