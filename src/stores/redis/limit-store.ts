import { hash } from 'node:crypto';
import type { Result } from 'ioredis';
import type { Clock } from '#base/clock.ts';
import type { Counter, LimitStore } from '#domain/limits/limit-store.ts';
import type { RedisLink } from './redis-link.ts';

/** Numbers of Lua are doubles: whole and exact as far as JavaScript's are, and sums stop growing there. */
const countScript = `
local before = redis.call('MGET', unpack(KEYS))
for i = 1, #KEYS do
  if tonumber(before[i] or 0) >= tonumber(ARGV[3 * i - 2]) then return before end
end
for i = 1, #KEYS do
  local amount = tonumber(ARGV[3 * i - 1])
  if amount > 0 then
    local sum = math.min(tonumber(before[i] or 0) + amount, ${Number.MAX_SAFE_INTEGER})
    redis.call('SET', KEYS[i], string.format('%.0f', sum), 'PX', ARGV[3 * i])
  end
end
return before`;

/** How far apart the clocks of nodes may be. */
const graceMs = 60_000;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    parleyCount(keys: number, ...keysAndArguments: (string | number)[]): Result<(string | null)[], Context>;
  }
}

/** Counters that all nodes share, each step one round trip. A key is gone a minute after the end of its period. Throws StoreFault. */
export class RedisLimitStore implements LimitStore {
  readonly #link: RedisLink;
  readonly #clock: Clock;

  constructor(link: RedisLink, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
    link.define('parleyCount', countScript);
  }

  async count(counters: readonly Counter[]): Promise<readonly number[]> {
    if (counters.length === 0) return [];
    const nowMs = this.#clock.epochMs();
    const keys = counters.map(toKey);
    const rest = counters.flatMap(({ total, amount, endsAtMs }) => [
      Math.min(total, Number.MAX_VALUE),
      amount,
      Math.max(0, Math.ceil(endsAtMs - nowMs)) + graceMs,
    ]);
    const before = await this.#link.run((redis) => redis.parleyCount(keys.length, ...keys, ...rest));
    return before.map(Number);
  }
}

/** One slot of a cluster for all, by the word in braces: a script sees only keys of one. Holders are hashed: they may be of any length. */
function toKey({ window, holder, endsAtMs }: Counter): string {
  return `parley:{limits}:${window.kind}:${window.period}:${endsAtMs}:${hash('sha256', holder, 'base64url')}`;
}
