import { createHash } from 'node:crypto';
import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { BoundedCache, BoundedCacheOptions } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { MuteServerFault } from './server-fault.ts';

const freshMs = 600_000;
/** The cache that they lie in. */
export const muteBounds: BoundedCacheOptions<Mute> = { maxBytes: 256 * 1024, bytesOf: ({ what }) => what.length };

interface KnownRevision {
  readonly revision: PriorDiscovery;
  readonly untilMs: number;
}

/** The cache that revisions lie in. */
export const revisionBounds: BoundedCacheOptions<KnownRevision> = {
  maxBytes: 1024 ** 2,
  bytesOf: ({ revision }) => JSON.stringify(revision).length,
};

/** Which revision of the protocol a server speaks to these credentials and headers, so that it is not asked by every session. */
export class Revisions {
  readonly #known: BoundedCache<KnownRevision>;
  readonly #clock: Clock;

  constructor(known: BoundedCache<KnownRevision>, clock: Clock) {
    this.#known = known;
    this.#clock = clock;
  }

  find(settings: McpToolsetSettings): PriorDiscovery | undefined {
    const known = this.#known.find(keyOf(settings));
    return known !== undefined && known.untilMs > this.#clock.nowMs() ? known.revision : undefined;
  }

  put(settings: McpToolsetSettings, revision: PriorDiscovery): void {
    if (this.find(settings) === undefined) this.#known.set(keyOf(settings), { revision, untilMs: this.#clock.nowMs() + freshMs });
  }

  forget(settings: McpToolsetSettings): void {
    this.#known.delete(keyOf(settings));
  }
}

function keyOf({ url, protocol, authorization, headers }: McpToolsetSettings): string {
  return hashOf([url, protocol, authorization, headers]);
}

interface Mute {
  /** What it did not do. */
  readonly what: string;
  readonly untilMs: number;
}

/**
 * Servers that sent nothing within their time limit. Callers that reach the server with the same address, protocol, credentials,
 * and
 * headers get the same error immediately for a while. The behavior of a server toward one caller's credentials never affects
 * another caller's credentials.
 */
export class MuteServers {
  readonly #known: BoundedCache<Mute>;
  readonly #options: { readonly clock: Clock; readonly muteMs: number };

  constructor(known: BoundedCache<Mute>, options: { readonly clock: Clock; readonly muteMs: number }) {
    this.#known = known;
    this.#options = options;
  }

  /** Asks a server, unless it was mute a moment ago. Rejects with what asking throws. */
  async guard<Value>(settings: McpToolsetSettings, ask: () => Promise<Value>): Promise<Value> {
    const { clock, muteMs } = this.#options;
    const key = keyOf(settings);
    const mute = this.#known.find(key);
    if (mute !== undefined && mute.untilMs > clock.nowMs()) throw new MuteServerFault(settings.name, mute.what);
    try {
      return await ask();
    } catch (thrown) {
      if (thrown instanceof MuteServerFault) this.#known.set(key, { what: thrown.what, untilMs: clock.nowMs() + muteMs });
      throw thrown;
    }
  }

  /** To be told of one that answers again. */
  forget(settings: McpToolsetSettings): void {
    this.#known.delete(keyOf(settings));
  }
}

/** One hash of all parts together: a key that holds no secret, and from which no part can be left out. */
export function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}
