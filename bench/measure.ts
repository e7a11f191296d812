import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports process times to user space in hundredths of a second on every architecture. */
const microsPerTick = 10_000;

/** Processor time and memory of a process and all its descendants. */
export interface Usage {
  cpuMicros: number;
  /**
   * Newly assigned pages of memory, without disk reads. The number is the same on a busy machine as on a quiet one.
   */
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

/** Returns the processor time of the entire machine since its start, including time stolen by a hypervisor. */
export function readMachineMicros(): number {
  const [user, nice, system, , , , , steal] = readText('/proc/stat').slice(5).trimStart().split(' ').map(Number);
  return ((user ?? 0) + (nice ?? 0) + (system ?? 0) + (steal ?? 0)) * microsPerTick;
}

/**
 * Sums `/proc` over a process tree: user and system time, page faults, and resident memory. A process that has ended
 * counts as zero.
 */
export function readUsage(pid: number): Usage {
  // The name of a process may contain spaces, so fields are counted after its closing bracket.
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
