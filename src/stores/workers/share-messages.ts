import type { Claim, Counter } from '#domain/limits/limit-store.ts';
import { parseWindowName, type Window } from '#domain/limits/windows.ts';

/** Counter in messages between workers and the primary process. Windows are sent as their names. */
export type SentCounter = readonly [
  window: string,
  holder: string,
  endsAtMs: number,
  total: number,
  amount: number,
  claim: number,
];

/** Identifies the shares of one holder: all windows of one kind. */
export type SentHolder = readonly [kind: Window['kind'], holder: string];

/** Usage of a share that the primary process does not know yet. */
export interface SentUsage {
  readonly holder: SentHolder;
  readonly counters: readonly (readonly [window: string, endsAtMs: number, consumed: number])[];
}

/** Shares of one holder that a worker returns, with its reservations in progress. */
export interface ReturnedShare extends SentUsage {
  readonly claimed: number;
}

export interface ReserveMessage {
  readonly counters: readonly SentCounter[];
  readonly claims: readonly (readonly [kind: Claim['kind'], holder: string, amount: number, exemptAmount: number])[];
  readonly returned: readonly ReturnedShare[];
  /** Whether the values must include the usage of all workers. */
  readonly isExact: boolean;
}

export interface ReserveAnswer {
  readonly used: readonly number[];
  readonly reserved: readonly number[];
  /** Share of each counter and its usage, in the order of the counters. Undefined if the worker gets no share. */
  readonly shares?: readonly (readonly [granted: number, used: number])[];
}

export interface SettleMessage {
  readonly counters: readonly SentCounter[];
  readonly claims: readonly (readonly [kind: Claim['kind'], holder: string, amount: number])[];
}

const parsedWindows = new Map<string, Window>();

export function toSentCounter({ window, holder, endsAtMs, total, amount, claimIndex }: Counter): SentCounter {
  // JSON has no infinity.
  return [window.name, holder, endsAtMs, Math.min(total, Number.MAX_SAFE_INTEGER), amount, claimIndex];
}

export function fromSentCounter([name, holder, endsAtMs, total, amount, claim]: SentCounter): Counter {
  return { window: toWindow(name), holder, endsAtMs, total, amount, claimIndex: claim };
}

/** Returns the window with this name. Windows come only from configurations, so there are few of them. */
export function toWindow(name: string): Window {
  const window = parsedWindows.get(name) ?? parseWindowName(name);
  if (window === undefined) throw new Error(`there is no window ${name}`);
  parsedWindows.set(name, window);
  return window;
}
