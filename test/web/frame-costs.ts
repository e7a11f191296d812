import type { Page } from 'playwright-core';

/** What the page's own thread did, by what it took of the processor: waiting for others on the machine does not count. */
export interface FrameCosts {
  readonly tasks: number;
  /** Milliseconds of the longest task. */
  readonly longestMs: number;
  /** How many tasks took longer than a frame may. */
  readonly tooLong: number;
}

export const longestFrameMs = 50;

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  /** Microseconds of processor time. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** Costs of everything between now and the end of `act`, but for the first task, in which the recording itself begins. */
export async function frameCosts(page: Page, act: () => Promise<void>): Promise<FrameCosts> {
  const browser = page.context().browser();
  if (browser === null) throw new Error('a page of no browser');
  await browser.startTracing(page, { categories: ['toplevel'] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: readonly TraceEvent[] };
  const threads = traceEvents.filter(
    ({ ph, name, args }) => ph === 'M' && name === 'thread_name' && args.name === 'CrRendererMain',
  );
  const own = new Set(threads.map(({ pid, tid }) => `${pid} ${tid}`));
  const [, ...tasks] = traceEvents
    .filter(({ ph, name, pid, tid }) => ph === 'X' && name === 'ThreadControllerImpl::RunTask' && own.has(`${pid} ${tid}`))
    .sort((one, other) => one.ts - other.ts);
  const tookMs = tasks.map(({ tdur = 0 }) => tdur / 1000);
  return {
    tasks: tookMs.length,
    longestMs: Math.round(Math.max(0, ...tookMs)),
    tooLong: tookMs.filter((ms) => ms > longestFrameMs).length,
  };
}
