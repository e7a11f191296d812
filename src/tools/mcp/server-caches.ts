import { createHash } from 'node:crypto';
import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { BoundedCache, BoundedCacheOptions } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { UnresponsiveServerError } from './server-error.ts';

const freshMs = 600_000;
/** The cache that they lie in. */
export const unresponsiveServerBounds: BoundedCacheOptions<UnresponsiveEntry> = {
  maxBytes: 256 * 1024,
  countBytes: ({ problem }) => problem.length,
};

interface KnownRevision {
  readonly revision: PriorDiscovery;
  readonly untilMs: number;
}

/** The cache that revisions lie in. */
export const revisionBounds: BoundedCacheOptions<KnownRevision> = {
  maxBytes: 1024 ** 2,
  countBytes: ({ revision }) => JSON.stringify(revision).length,
};

/** Which revision of the protocol a server speaks to these credentials and headers, so that it is not asked by every session. */
export class Revisions {
  readonly #cache: BoundedCache<KnownRevision>;
  readonly #clock: Clock;

  constructor(cache: BoundedCache<KnownRevision>, clock: Clock) {
    this.#cache = cache;
    this.#clock = clock;
  }

  find(settings: McpToolsetSettings): PriorDiscovery | undefined {
    const entry = this.#cache.find(computeKey(settings));
    return entry !== undefined && entry.untilMs > this.#clock.nowMs() ? entry.revision : undefined;
  }

  put(settings: McpToolsetSettings, revision: PriorDiscovery): void {
    if (this.find(settings) === undefined)
      this.#cache.set(computeKey(settings), { revision, untilMs: this.#clock.nowMs() + freshMs });
  }

  forget(settings: McpToolsetSettings): void {
    this.#cache.delete(computeKey(settings));
  }
}

function computeKey({ url, protocol, authorization, headers }: McpToolsetSettings): string {
  return computeHash([url, protocol, authorization, headers]);
}

interface UnresponsiveEntry {
  /** What it did not do. */
  readonly problem: string;
  readonly untilMs: number;
}

/**
 * Servers that sent nothing within their time limit. Callers that reach the server with the same address, protocol, credentials,
 * and
 * headers get the same error immediately for a while. The behavior of a server toward one caller's credentials never affects
 * another caller's credentials.
 */
export class UnresponsiveServers {
  readonly #cache: BoundedCache<UnresponsiveEntry>;
  readonly #options: { readonly clock: Clock; readonly unresponsiveMs: number };

  constructor(cache: BoundedCache<UnresponsiveEntry>, options: { readonly clock: Clock; readonly unresponsiveMs: number }) {
    this.#cache = cache;
    this.#options = options;
  }

  /** Asks a server, unless it was mute a moment ago. Rejects with what asking throws. */
  async guard<Value>(settings: McpToolsetSettings, work: () => Promise<Value>): Promise<Value> {
    const { clock, unresponsiveMs } = this.#options;
    const key = computeKey(settings);
    const entry = this.#cache.find(key);
    if (entry !== undefined && entry.untilMs > clock.nowMs()) throw new UnresponsiveServerError(settings.name, entry.problem);
    try {
      return await work();
    } catch (error) {
      if (error instanceof UnresponsiveServerError)
        this.#cache.set(key, { problem: error.problem, untilMs: clock.nowMs() + unresponsiveMs });
      throw error;
    }
  }

  /** To be told of one that answers again. */
  forget(settings: McpToolsetSettings): void {
    this.#cache.delete(computeKey(settings));
  }
}

/** One hash of all parts together: a key that holds no secret, and from which no part can be left out. */
export function computeHash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}
