import { hash } from 'node:crypto';
import type { Result } from 'ioredis';
import type { Clock } from '#base/time/clock.ts';
import {
  type Claim,
  type Counter,
  isAdmitted,
  type LeasedClaims,
  type LimitStore,
  type RequestedClaim,
  type ReserveOutcome,
} from '#domain/limits/limit-store.ts';
import type { RedisLink } from './redis-link.ts';

/** Maximum difference between the clocks of nodes. */
const graceMs = 60_000;
/** Time until the reservations of a crashed node expire (docs/limits.md). */
const defaultLeaseMs = 60_000;
/** The hash tag in braces puts all keys in one cluster slot, because a script can access keys of one slot only. */
const prefix = 'parley:{limits}';
const leasesKey = `${prefix}:leases`;

type ScriptArguments = (string | number)[];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    parleyReserve(keys: number, ...args: ScriptArguments): Result<[used: (string | null)[], reserved: string[]], Context>;
    parleySettle(keys: number, ...args: ScriptArguments): Result<number[], Context>;
    parleyRenew(keys: number, ...args: ScriptArguments): Result<null, Context>;
  }
}

/**
 * Counters and reservations that all nodes share. Each operation takes one round trip. A counter expires one minute after the end
 * of its period. Throws `StoreError`.
 */
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
    this.#lease = new LimitLease({ node: link.node, clock, leaseMs, renew, end });
    // If this fails, the next connection tries again.
    link.onReady(leasesKey, () => void this.#lease.endAbandoned().catch(() => undefined));
  }

  async reserve(counters: readonly Counter[], claims: readonly RequestedClaim[]): Promise<ReserveOutcome> {
    const lease = this.#lease.id;
    if (counters.length === 0) return { used: [], reserved: claims.map(() => 0), lease };
    const hashHolder = createHolderHasher();
    const keys = [
      leasesKey,
      ...claims.map((claim) => toClaimKey(claim, hashHolder)),
      ...counters.map((counter) => toKey(counter, hashHolder)),
    ];
    const args: ScriptArguments = [claims.length, lease, this.#leaseMs];
    for (const { amount, exemptAmount } of claims) args.push(amount, exemptAmount);
    for (const { total, amount, endsAtMs, claimIndex } of counters)
      args.push(Math.min(total, Number.MAX_VALUE), amount, this.#getLifetimeMs(endsAtMs), claimIndex + 1);
    const [usedBefore, reserved] = await this.#abandonOnError(
      this.#link.run((redis) => redis.parleyReserve(keys.length, ...keys, ...args)),
    );
    const outcome = { used: usedBefore.map(Number), reserved: reserved.map(Number), lease };
    if (hasAmount(claims) && isAdmitted(counters, outcome)) this.#lease.onClaimed(lease);
    return outcome;
  }

  async settle(counters: readonly Counter[], { claims, lease }: LeasedClaims): Promise<readonly number[]> {
    const hashHolder = createHolderHasher();
    const keys = [
      ...claims.map((claim) => toClaimKey(claim, hashHolder)),
      ...counters.map((counter) => toKey(counter, hashHolder)),
    ];
    if (keys.length === 0) return [];
    const args: ScriptArguments = [claims.length, lease, ...claims.map(({ amount }) => amount)];
    for (const { amount, endsAtMs } of counters) args.push(amount, this.#getLifetimeMs(endsAtMs));
    const usedAfter = await this.#abandonOnError(this.#link.run((redis) => redis.parleySettle(keys.length, ...keys, ...args)));
    if (hasAmount(claims)) this.#lease.onSettled(lease);
    return usedAfter;
  }

  close(): void {
    this.#lease.close();
  }

  #getLifetimeMs(endsAtMs: number): number {
    return Math.max(0, Math.ceil(endsAtMs - this.#clock.epochMs())) + graceMs;
  }

  async #abandonOnError<Value>(reply: Promise<Value>): Promise<Value> {
    try {
      return await reply;
    } catch (error) {
      this.#lease.abandon();
      throw error;
    }
  }
}

function hasAmount(claims: readonly Claim[]): boolean {
  return claims.some(({ amount }) => amount > 0);
}

type HashHolder = (holder: string) => string;

/** Returns a function that hashes holders, because holders can have any length and Redis must not store user IDs. */
function createHolderHasher(): HashHolder {
  const names = new Map<string, string>();
  return (holder) => {
    const name = names.get(holder) ?? hash('sha256', holder, 'base64url');
    names.set(holder, name);
    return name;
  };
}

function toKey({ window, holder, endsAtMs }: Counter, hashHolder: HashHolder): string {
  return `${prefix}:${window.name.replaceAll('/', ':')}:${endsAtMs}:${hashHolder(holder)}`;
}

function toClaimKey({ kind, holder }: Claim, hashHolder: HashHolder): string {
  return `${prefix}:claims:${kind}:${hashHolder(holder)}`;
}

const renewalsPerLease = 4;
/** Maximum number of abandoned leases that are remembered. Forgotten leases expire in Redis. */
const maxAbandoned = 10_000;

interface LimitLeaseDeps {
  /** Identifies this process. */
  readonly node: string;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Extends the lease by `leaseMs` from now. */
  readonly renew: (id: string) => Promise<unknown>;
  readonly end: (ids: readonly string[]) => Promise<unknown>;
}

/**
 * Lease for the reservations of a process. If the process ends, they expire after at most `leaseMs`. The lease is renewed while
 * it has reservations. After an error, the outcome of the command is unknown, so a new lease replaces the current one. The
 * abandoned lease is ended as soon as Redis is available, so that reservations that could not be returned do not block other
 * calls.
 */
class LimitLease {
  readonly #deps: LimitLeaseDeps;
  readonly #renewal: NodeJS.Timeout;
  readonly #abandoned = new Set<string>();
  #serial = 0;
  #claims = 0;
  #renewedAtMs: number;

  constructor(deps: LimitLeaseDeps) {
    this.#deps = deps;
    this.#renewedAtMs = deps.clock.nowMs();
    this.#renewal = setInterval(() => this.#renew(), deps.leaseMs / renewalsPerLease).unref();
  }

  /** ID of the lease for new reservations. */
  get id(): string {
    const { clock, leaseMs } = this.#deps;
    if (this.#claims > 0 && clock.nowMs() - this.#renewedAtMs >= leaseMs) this.abandon();
    return this.#current;
  }

  get #current(): string {
    return `${this.#deps.node}.${this.#serial}`;
  }

  /** Called after reservations were made with this lease, which also renewed it. */
  onClaimed(id: string): void {
    if (id !== this.id) return;
    this.#claims += 1;
    this.#renewedAtMs = this.#deps.clock.nowMs();
  }

  /** Called after reservations were returned. */
  onSettled(id: string): void {
    if (id === this.id) this.#claims -= 1;
  }

  abandon(): void {
    if (this.#abandoned.size >= maxAbandoned) this.#abandoned.clear();
    this.#abandoned.add(this.#current);
    this.#serial += 1;
    this.#claims = 0;
  }

  /** Ends the abandoned leases. */
  async endAbandoned(): Promise<void> {
    const ids = [...this.#abandoned];
    if (ids.length === 0) return;
    await this.#deps.end(ids);
    for (const id of ids) this.#abandoned.delete(id);
  }

  close(): void {
    clearInterval(this.#renewal);
  }

  #renew(): void {
    if (this.#claims === 0) return;
    const atMs = this.#deps.clock.nowMs();
    // If this fails, the next renewal may still be in time.
    this.#deps.renew(this.id).then(
      () => {
        this.#renewedAtMs = Math.max(this.#renewedAtMs, atMs);
      },
      () => undefined,
    );
  }
}

/** Expiry of a reservation key, in milliseconds. */
const claimLifetimeMs = 86_400_000;

/**
 * Functions that all scripts share. Each script runs atomically. A reservation key is a hash with one field per lease. The
 * leases are one hash with the end of each lease by the clock of Redis. Lua numbers are doubles, which are exact up to the same
 * bound as in JavaScript. Stored sums are capped at that bound.
 */
const sharedScript = `
local function text(number) return string.format('%.0f', math.min(number, ${Number.MAX_SAFE_INTEGER})) end
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function renew(leases, lease, ms)
  redis.call('HSET', leases, lease, text(now() + ms))
  redis.call('PEXPIRE', leases, text(ms))
end`;

/**
 * Keys: the leases, the reservations, and the counters. Arguments: the number of reservations, the lease, and its duration. For
 * each reservation, its amount and the exempt amount. For each counter, its limit, amount, lifetime in milliseconds, and the
 * number of its reservation or 0.
 */
const reserveScript = `${sharedScript}
local claims, lease, leaseMs = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local at = now()
local reserved, found = {}, {}
for c = 1, claims do
  local key, sum = KEYS[1 + c], 0
  local fields = redis.call('HGETALL', key)
  for f = 1, #fields, 2 do
    local endsAt = tonumber(redis.call('HGET', KEYS[1], fields[f]) or 0)
    if endsAt > at then sum = sum + tonumber(fields[f + 1]) else redis.call('HDEL', key, fields[f]) end
  end
  reserved[c] = math.max(0, sum - tonumber(ARGV[3 + 2 * c]))
  found[c] = text(reserved[c])
end
local before = {}
if #KEYS > 1 + claims then before = redis.call('MGET', unpack(KEYS, 2 + claims)) end
for i = 1, #before do
  local a = 3 + 2 * claims + 4 * (i - 1)
  local standing = tonumber(before[i] or 0) + (reserved[tonumber(ARGV[a + 4])] or 0)
  if standing >= tonumber(ARGV[a + 1]) then return { before, found } end
end
for i = 1, #before do
  local a = 3 + 2 * claims + 4 * (i - 1)
  local amount = tonumber(ARGV[a + 2])
  if amount > 0 then
    redis.call('SET', KEYS[1 + claims + i], text(tonumber(before[i] or 0) + amount), 'PX', ARGV[a + 3])
  end
end
for c = 1, claims do
  local amount = tonumber(ARGV[2 + 2 * c])
  if amount > 0 then
    local own = tonumber(redis.call('HGET', KEYS[1 + c], lease) or 0)
    redis.call('HSET', KEYS[1 + c], lease, text(own + amount))
    redis.call('PEXPIRE', KEYS[1 + c], ${claimLifetimeMs})
    renew(KEYS[1], lease, leaseMs)
  end
end
return { before, found }`;

/**
 * Keys: the reservations and the counters. Arguments: the number of reservations, the lease, and the amount of each reservation.
 * For each counter, its amount and lifetime in milliseconds.
 */
const settleScript = `${sharedScript}
local claims, lease = tonumber(ARGV[1]), ARGV[2]
local sums = {}
for i = 1, #KEYS - claims do
  sums[i] = tonumber(redis.call('GET', KEYS[claims + i]) or 0) + tonumber(ARGV[2 + claims + 2 * i - 1])
end
for i = 1, #sums do redis.call('SET', KEYS[claims + i], text(sums[i]), 'PX', ARGV[2 + claims + 2 * i]) end
for c = 1, claims do
  local left = tonumber(redis.call('HGET', KEYS[c], lease) or 0) - tonumber(ARGV[2 + c])
  if left > 0 then redis.call('HSET', KEYS[c], lease, text(left)) else redis.call('HDEL', KEYS[c], lease) end
end
return sums`;

/** Renews a lease and deletes expired ones. Key: the leases. Arguments: the lease and its duration. */
const renewScript = `${sharedScript}
local at = now()
local leases = redis.call('HGETALL', KEYS[1])
for l = 1, #leases, 2 do
  if tonumber(leases[l + 1]) <= at then redis.call('HDEL', KEYS[1], leases[l]) end
end
renew(KEYS[1], ARGV[1], tonumber(ARGV[2]))`;
