import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { BoundedCache, BoundedCacheOptions } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { hashOf } from './hash-of.ts';

const freshMs = 600_000;

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
