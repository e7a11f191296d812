import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Harness, RunningContender } from './contenders.ts';
import { readMachineCpuMicros, readUsage, type Usage } from './measure.ts';
import { type Call, toRawRequest } from './requests.ts';
import { toSpread } from './statistics.ts';

/** Percentiles in nanoseconds from the load generator. */
interface Percentiles {
  count: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/** The last line of the load generator. */
interface LoadResult {
  seconds: number;
  replies: number;
  errors: number;
  reconnects: number;
  events: number;
  /** Open streams that had their first chunk when the window started. */
  flowing: number;
  latency: Percentiles;
  firstChunk: Percentiles;
  relay: Percentiles;
  firstError: string;
}

/**
 * One run of the load generator and the resource usage of the contender in its window. Memory is the median of samples in bytes.
 */
export interface LoadRun {
  result: LoadResult;
  cpuMicros: number;
  pageFaults: number;
  rssBytes: number;
  stepRssBytes: number;
  /** CPU time of processes outside this run, in percent of one core. */
  othersShare: number;
}

/** A run with an unexpected reply. Its numbers are not valid. */
export class InvalidRun extends Error {}

type Line = { mark: string } | { result: LoadResult };

/** Measures a contender between the marks of a run. */
class WindowMeter {
  readonly #pid: number | undefined;
  readonly #samples = { step: [] as number[], window: [] as number[] };
  #phase: 'step' | 'window' | undefined;
  #start: Usage = { cpuMicros: 0, pageFaults: 0, rssBytes: 0 };
  #othersStart = 0;
  cpuMicros = 0;
  pageFaults = 0;
  othersMicros = 0;

  constructor(child: ChildProcess | undefined) {
    this.#pid = child?.pid;
  }

  #read(): Usage {
    return this.#pid === undefined
      ? { cpuMicros: Number.NaN, pageFaults: Number.NaN, rssBytes: Number.NaN }
      : readUsage(this.#pid);
  }

  sample(): void {
    if (this.#phase) this.#samples[this.#phase].push(this.#read().rssBytes);
  }

  mark(name: string): void {
    const usage = this.#read();
    const otherMicros = readMachineCpuMicros() - readUsage(process.pid).cpuMicros;
    if (name === 'window-start') {
      this.#start = usage;
      this.#othersStart = otherMicros;
    }
    if (name === 'window-end') {
      this.cpuMicros = usage.cpuMicros - this.#start.cpuMicros;
      this.pageFaults = usage.pageFaults - this.#start.pageFaults;
      this.othersMicros = otherMicros - this.#othersStart;
    }
    if (name.endsWith('-start')) this.#phase = name === 'step-start' ? 'step' : 'window';
    else this.#phase = undefined;
  }

  computeMedianRss(part: 'step' | 'window'): number {
    return toSpread(this.#samples[part])?.median ?? Number.NaN;
  }
}

/** Runs the load generator against a contender. Throws `InvalidRun` if a reply was not as expected. */
export async function runLoad(
  harness: Harness,
  load: string,
  running: RunningContender,
  call: Call,
  args: readonly string[],
): Promise<LoadRun> {
  const requestPath = join(harness.temporary, 'request');
  writeFileSync(requestPath, toRawRequest(running.getPath(call), running.getHeaders(call.manner), call.body));
  const target = ['--port', String(running.getPort(call.manner)), '--request', requestPath];
  const streaming = call.isStream ? ['--stream', '1', '--events', call.manner === 'at-once' ? '101' : '0'] : [];
  const child = harness.processes.startLoad(load, [...args, ...target, ...streaming]);
  const watch = new WindowMeter(running.child);
  const sampler = setInterval(() => watch.sample(), 200);
  const limit = setTimeout(() => child.kill('SIGKILL'), 300_000);
  let result: LoadResult | undefined;
  try {
    for await (const text of createInterface(child.stdout)) {
      const line = JSON.parse(text) as Line;
      if ('mark' in line) watch.mark(line.mark);
      else result = line.result;
    }
  } finally {
    clearInterval(sampler);
    clearTimeout(limit);
  }
  if (!result) throw new InvalidRun('the load generator gave no result');
  if (result.errors > 0) throw new InvalidRun(`${result.errors} errors, the first: ${result.firstError}`);
  if (result.replies === 0 && result.events === 0) throw new InvalidRun('no reply arrived within the window');
  return {
    result,
    cpuMicros: watch.cpuMicros,
    pageFaults: watch.pageFaults,
    rssBytes: watch.computeMedianRss('window'),
    stepRssBytes: watch.computeMedianRss('step'),
    othersShare: Math.max(0, watch.othersMicros / result.seconds / 10_000),
  };
}
