import type { Window } from './windows.ts';

/** A counter in one operation. All numbers are integers. */
export interface Counter {
  readonly window: Window;
  /** Unique within the window, and the same in each period. */
  readonly holder: string;
  /** End of the period, when the counter restarts at 0, in milliseconds since the epoch. */
  readonly endsAtMs: number;
  /** Limit of the counter. It blocks calls when it reaches this value. */
  readonly total: number;
  /** Amount to add. */
  readonly amount: number;
  /** Index of the claim with the same kind and holder in the operation, or -1. */
  readonly claimIndex: number;
}

/** Reservation for a call in progress: its estimated usage, or 1 for the kind `calls`. It counts in every window of its kind. */
export interface Claim {
  readonly kind: Exclude<Window['kind'], 'requests'>;
  /** Same as in the counters of that kind. */
  readonly holder: string;
  readonly amount: number;
}

export interface RequestedClaim extends Claim {
  /** Part of the existing reservations that does not block the call. */
  readonly exemptAmount: number;
}

export interface ReserveOutcome {
  /** Value of each counter before the operation, in the order of the counters. */
  readonly used: readonly number[];
  /** Reserved amount before the operation, without exempt amounts, in the order of the claims. */
  readonly reserved: readonly number[];
  /** Lease of the claims, if they were reserved. */
  readonly lease: string;
}

/** Returns whether `reserve` with this outcome admitted the call, so that it was counted and its claims were reserved. */
export function isAdmitted(counters: readonly Counter[], { used, reserved }: Pick<ReserveOutcome, 'used' | 'reserved'>): boolean {
  return counters.every(({ total, claimIndex }, index) => (used[index] ?? 0) + (reserved[claimIndex] ?? 0) < total);
}

/** Reserved claims that must be released. */
export interface LeasedClaims {
  readonly claims: readonly Claim[];
  readonly lease: string;
}

/** Port that counts usage and stores reservations. */
export interface LimitStore {
  /** Whether returned values can omit the latest usage by other processes. If all amounts are 0, the values are exact. */
  readonly isApproximate?: boolean;
  /**
   * Adds each amount to its counter and reserves the claims, in one atomic operation. Does neither if one of the counters,
   * including the reservations of its kind, has reached its total. Claims end with the node that made them.
   */
  reserve(counters: readonly Counter[], claims: readonly RequestedClaim[]): ReserveOutcome | Promise<ReserveOutcome>;
  /**
   * Adds each amount to its counter regardless of the total, and releases the claims, in one atomic operation. Returns the value of
   * each counter after the operation, in the order of the counters, unless `isApproximate`.
   */
  settle(counters: readonly Counter[], leasedClaims: LeasedClaims): readonly number[] | Promise<readonly number[]>;
}

/** Usage of one holder in one period of a window. */
export interface CounterState {
  readonly window: Window;
  /** Same as in `Counter`. */
  readonly holder: string;
  /** End of the period in milliseconds since the epoch. */
  readonly endsAtMs: number;
  readonly used: number;
}

export interface StoredCounter extends CounterState {
  /** Part of `used` that this node wrote under its own name. */
  readonly ownUsed: number;
}

/** Port for the database that stores the counters of nodes without Redis. Throws `StoreError`. */
export interface CounterArchive {
  /** Returns the counters of periods that have not ended, summed over all nodes. */
  load(nowMs: number): Promise<readonly StoredCounter[]>;
  /** Replaces the counters of this node. `used` is the part of this node. Saving the same counters again has no effect. */
  save(counters: readonly CounterState[], nowMs: number): Promise<void>;
}
