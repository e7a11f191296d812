import type { Window } from './windows.ts';

/** One counter, as one step shall see and change it. All numbers are whole. */
export interface Counter {
  readonly window: Window;
  /** Unique within the window; the same in its next period. */
  readonly holder: string;
  /** When the period is over and the counter starts again from 0; milliseconds since the epoch. */
  readonly endsAtMs: number;
  /** From here on it stands in the way. */
  readonly total: number;
  /** What is added. */
  readonly amount: number;
}

/** What is reserved for a call under way: as much as it may come to use. It stands in every window of its kind. */
export interface Claim {
  readonly kind: 'tokens' | 'cost';
  /** As in the counters of that kind. */
  readonly holder: string;
  readonly amount: number;
}

/** A claim that is to be made. */
export interface RequestedClaim extends Claim {
  /** Of what is reserved already: what does not stand in the way. */
  readonly exempt: number;
}

/** What a step found. */
export interface ReserveOutcome {
  /** What each counter had before, in their order. */
  readonly used: readonly number[];
  /** What was reserved before and stands in the way, for each claim in their order. */
  readonly reserved: readonly number[];
  /** Under which the claims stand, if they were made. */
  readonly lease: string;
}

/** Claims that were made, to be given back. */
export interface LeasedClaims {
  readonly claims: readonly Claim[];
  readonly lease: string;
}

/** Port: where it is counted what callers use, and reserved what they may come to use. */
export interface LimitStore {
  /**
   * In one step that no other call comes between: adds to every counter its amount and makes the claims, unless one of the
   * counters, with what is reserved in the claim of its kind, has reached its total. Claims end with the node that made them.
   */
  reserve(counters: readonly Counter[], claims: readonly RequestedClaim[]): ReserveOutcome | Promise<ReserveOutcome>;
  /** In one step: adds to every counter its amount, whatever its total, and gives the claims back. */
  settle(counters: readonly Counter[], leasedClaims: LeasedClaims): void | Promise<void>;
}

/** The usage of one holder in one period of a window. */
export interface CounterState {
  readonly window: Window;
  /** As in `Counter`. */
  readonly holder: string;
  /** End of the period in milliseconds since the epoch. */
  readonly endsAtMs: number;
  readonly used: number;
}

/** A stored counter. */
export interface StoredCounter extends CounterState {
  /** The part of `used` that this node wrote under its own name. */
  readonly ownUsed: number;
}

/** Port: the database that holds the counters of nodes without Redis. Throws StoreFault. */
export interface CounterArchive {
  /** Returns the counters of periods that have not ended, summed over all nodes. */
  load(nowMs: number): Promise<readonly StoredCounter[]>;
  /** Replaces the counters of this node. `used` is this node's own part. Saving the same counters again changes nothing. */
  save(counters: readonly CounterState[], nowMs: number): Promise<void>;
}
