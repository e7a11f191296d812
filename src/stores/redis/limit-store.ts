import { hash } from 'node:crypto';
import type { Result } from 'ioredis';
import type { Clock } from '#base/clock.ts';
import type { AskedClaim, Claim, Counter, Found, LimitStore, MadeClaims } from '#domain/limits/limit-store.ts';
import { LimitLease } from './limit-lease.ts';
import { renewScript, reserveScript, settleScript } from './limit-scripts.ts';
import type { RedisLink } from './redis-link.ts';

/** How far apart the clocks of nodes may be. */
const graceMs = 60_000;
/** How long claims outlive their node (docs/limits.md). */
const defaultLeaseMs = 60_000;
/** One slot of a cluster for all, by the word in braces: a script sees only keys of one. */
const prefix = 'parley:{limits}';
const leasesKey = `${prefix}:leases`;

type Words = (string | number)[];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    parleyReserve(keys: number, ...rest: Words): Result<[used: (string | null)[], reserved: string[]], Context>;
    parleySettle(keys: number, ...rest: Words): Result<null, Context>;
    parleyRenew(keys: number, ...rest: Words): Result<null, Context>;
  }
}

/** Counters and claims that all nodes share, each step one round trip. A counter is gone a minute after the end of its period. Throws StoreFault. */
export class RedisLimitStore implements LimitStore {
  readonly #link: RedisLink;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #lease: LimitLease;

  constructor(link: RedisLink, clock: Clock, leaseMs = defaultLeaseMs) {
    this.#link = link;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    link.define('parleyReserve', reserveScript);
    link.define('parleySettle', settleScript);
    link.define('parleyRenew', renewScript);
    const renew = (id: string): Promise<unknown> => link.run((redis) => redis.parleyRenew(1, leasesKey, id, leaseMs));
    const end = (ids: readonly string[]): Promise<unknown> => link.run((redis) => redis.hdel(leasesKey, ...ids));
    this.#lease = new LimitLease({ node: link.node, clock, lifeMs: leaseMs, renew, end });
    // If it fails, the connection that comes back next tries again.
    link.onReady(() => void this.#lease.end().catch(() => undefined));
  }

  async reserve(counters: readonly Counter[], claims: readonly AskedClaim[]): Promise<Found> {
    const lease = this.#lease.id;
    if (counters.length === 0) return { used: [], reserved: claims.map(() => 0), lease };
    const nameOf = namer();
    const keys = [leasesKey, ...claims.map((claim) => toClaimKey(claim, nameOf)), ...counters.map((each) => toKey(each, nameOf))];
    const words: Words = [claims.length, lease, this.#leaseMs];
    for (const { amount, exempt } of claims) words.push(amount, exempt);
    for (const { window, total, amount, endsAtMs } of counters) {
      words.push(
        Math.min(total, Number.MAX_VALUE),
        amount,
        this.#lifeMs(endsAtMs),
        claims.findIndex(({ kind }) => kind === window.kind) + 1,
      );
    }
    const [before, held] = await this.#orAbandon(this.#link.run((redis) => redis.parleyReserve(keys.length, ...keys, ...words)));
    if (claims.some(({ amount }) => amount > 0)) this.#lease.claimed(lease);
    return { used: before.map(Number), reserved: held.map(Number), lease };
  }

  async settle(counters: readonly Counter[], { claims, lease }: MadeClaims): Promise<void> {
    const nameOf = namer();
    const keys = [...claims.map((claim) => toClaimKey(claim, nameOf)), ...counters.map((each) => toKey(each, nameOf))];
    if (keys.length === 0) return;
    const words: Words = [claims.length, lease, ...claims.map(({ amount }) => amount)];
    for (const { amount, endsAtMs } of counters) words.push(amount, this.#lifeMs(endsAtMs));
    await this.#orAbandon(this.#link.run((redis) => redis.parleySettle(keys.length, ...keys, ...words)));
    if (claims.length > 0) this.#lease.settled(lease);
  }

  close(): void {
    this.#lease.close();
  }

  #lifeMs(endsAtMs: number): number {
    return Math.max(0, Math.ceil(endsAtMs - this.#clock.epochMs())) + graceMs;
  }

  async #orAbandon<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await answer;
    } catch (thrown) {
      this.#lease.abandon();
      throw thrown;
    }
  }
}

type NameOf = (holder: string) => string;

/** Names holders by their hash: they may be of any length, and Redis is not told who they are. */
function namer(): NameOf {
  const known = new Map<string, string>();
  return (holder) => {
    const name = known.get(holder) ?? hash('sha256', holder, 'base64url');
    known.set(holder, name);
    return name;
  };
}

function toKey({ window, holder, endsAtMs }: Counter, nameOf: NameOf): string {
  return `${prefix}:${window.kind}:${window.period}:${endsAtMs}:${nameOf(holder)}`;
}

function toClaimKey({ kind, holder }: Claim, nameOf: NameOf): string {
  return `${prefix}:claims:${kind}:${nameOf(holder)}`;
}
