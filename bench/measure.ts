import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports process times to user space in hundredths of a second on every architecture. */
const microsPerTick = 10_000;

/** CPU time, page faults, and memory of a process and all its descendants. */
export interface Usage {
  cpuMicros: number;
  /** Minor page faults, which need no disk access. The number does not depend on other load of the machine. */
  pageFaults: number;
  rssBytes: number;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function listChildren(pid: number): number[] {
  let tasks: string[] = [];
  try {
    tasks = readdirSync(`/proc/${pid}/task`);
  } catch {
    // The process has ended.
  }
  return tasks.flatMap((task) => readText(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number));
}

/** Returns the busy time of all processors since boot: user, nice, system, and stolen time, without interrupts. */
export function readMachineCpuMicros(): number {
  const [user, nice, system, , , , , steal] = readText('/proc/stat').slice(5).trimStart().split(' ').map(Number);
  return ((user ?? 0) + (nice ?? 0) + (system ?? 0) + (steal ?? 0)) * microsPerTick;
}

/**
 * Sums user and system time, page faults, and resident memory of a process tree from `/proc`. An ended process counts as zero.
 */
export function readUsage(pid: number): Usage {
  // A process name may contain spaces, so fields are counted after its closing bracket.
  const stat = readText(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  const rss = /^VmRSS:\s+(\d+) kB$/m.exec(readText(`/proc/${pid}/status`));
  const sum: Usage = {
    cpuMicros: (ticks || 0) * microsPerTick,
    pageFaults: Number(fields[7] ?? 0) || 0,
    rssBytes: Number(rss?.[1] ?? 0) * 1024,
  };
  for (const child of listChildren(pid)) {
    const inner = readUsage(child);
    sum.cpuMicros += inner.cpuMicros;
    sum.pageFaults += inner.pageFaults;
    sum.rssBytes += inner.rssBytes;
  }
  return sum;
}
