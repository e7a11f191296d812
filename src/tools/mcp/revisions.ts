import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { Clock } from '#base/clock.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { hashOf } from './hash-of.ts';

const freshMs = 600_000;
const maxServers = 1000;

/** Which revision of the protocol a server speaks to these credentials, so that it is not asked by every session. */
export class Revisions {
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly revision: PriorDiscovery; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(settings: McpToolsetSettings): PriorDiscovery | undefined {
    const known = this.#known.get(keyOf(settings));
    return known !== undefined && known.untilMs > this.#clock.nowMs() ? known.revision : undefined;
  }

  put(settings: McpToolsetSettings, revision: PriorDiscovery): void {
    const key = keyOf(settings);
    if (this.find(settings) !== undefined) return;
    this.#known.delete(key);
    this.#known.set(key, { revision, untilMs: this.#clock.nowMs() + freshMs });
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxServers && oldest !== undefined) this.#known.delete(oldest);
  }

  forget(settings: McpToolsetSettings): void {
    this.#known.delete(keyOf(settings));
  }
}

function keyOf({ url, protocol, authorization }: McpToolsetSettings): string {
  return hashOf([url, protocol, authorization]);
}
