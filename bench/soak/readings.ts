import { readFileSync } from 'node:fs';
import { readUsage } from '../measure.ts';

/** Memory of a node at one time in bytes. Undefined values are not reported by the node. */
export interface Reading {
  readonly minute: number;
  readonly rss: number;
  /** Anonymous pages, without pages that are shared with files. */
  readonly anonymous: number;
  readonly heapUsed: number | undefined;
  readonly heap: number | undefined;
  readonly external: number | undefined;
  readonly arrayBuffers: number | undefined;
  /** Part of RSS without the heap, array buffers, and file pages, such as other threads and allocators. */
  readonly native: number | undefined;
  /** Cache sizes by name. */
  readonly caches: ReadonlyMap<string, number>;
  /** CPU time in seconds since the start. */
  readonly cpuSeconds: number;
}

/** Parses metrics of the Prometheus text format by name and labels. */
export function parseMetrics(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))] as const;
    }),
  );
}

/** Reads the memory of a process and the metrics of its node. */
export function toReading(minute: number, pid: number, metrics: ReadonlyMap<string, number>): Reading {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(rollup)?.[1] ?? 0);
  const ofProcess = (kind: string): number | undefined => metrics.get(`parley_process_memory_bytes{parley_memory="${kind}"}`);
  const { cpuMicros, rssBytes } = readUsage(pid);
  const [heap, arrayBuffers, external] = [ofProcess('heap'), ofProcess('array_buffers'), ofProcess('external')];
  const anonymous = kilobytes('Anonymous') * 1024;
  const caches = [...metrics].flatMap(([key, bytes]) => {
    const [, name] = /^parley_cache_size_bytes\{parley_cache="([^"]+)"\}$/.exec(key) ?? [];
    return name === undefined ? [] : [[name, bytes] as const];
  });
  return {
    ...{ minute, rss: rssBytes, anonymous, heap, external, arrayBuffers },
    heapUsed: metrics.get('v8js_memory_heap_used_bytes'),
    native: heap === undefined ? undefined : anonymous - heap - (arrayBuffers ?? 0),
    caches: new Map(caches),
    cpuSeconds: cpuMicros / 1e6,
  };
}
