import { hash } from 'node:crypto';
import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { BoundedCache, Caches } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { UnresponsiveServerError } from './server-error.ts';

const revisionTtlMs = 600_000;
const maxRevisionBytes = 1024 ** 2;
/** Time during which calls to an unresponsive server fail immediately. */
const unresponsiveMs = 60_000;
const maxUnresponsiveBytes = 256 * 1024;

interface KnownRevision {
  readonly revision: PriorDiscovery;
  readonly untilMs: number;
}

/**
 * Caches the protocol revision of servers by address, protocol, credentials, and headers, so that sessions do not negotiate it
 * again.
 */
export class Revisions {
  readonly #cache: BoundedCache<KnownRevision>;
  readonly #clock: Clock;

  constructor(caches: Caches, clock: Clock) {
    const countBytes = ({ revision }: KnownRevision): number => JSON.stringify(revision).length;
    this.#cache = caches.create('mcp_revisions', { maxBytes: maxRevisionBytes, countBytes });
    this.#clock = clock;
  }

  find(settings: McpToolsetSettings): PriorDiscovery | undefined {
    const entry = this.#cache.find(computeKey(settings));
    return entry !== undefined && entry.untilMs > this.#clock.nowMs() ? entry.revision : undefined;
  }

  put(settings: McpToolsetSettings, revision: PriorDiscovery): void {
    if (this.find(settings) === undefined)
      this.#cache.set(computeKey(settings), { revision, untilMs: this.#clock.nowMs() + revisionTtlMs });
  }

  forget(settings: McpToolsetSettings): void {
    this.#cache.delete(computeKey(settings));
  }
}

function computeKey({ url, protocol, authorization, headers }: McpToolsetSettings): string {
  return computeHash([url, protocol, authorization, headers]);
}

interface UnresponsiveEntry {
  /** Phrase that describes the problem, such as "did not list its tools within 5 s". */
  readonly problem: string;
  readonly untilMs: number;
}

/**
 * Servers that sent nothing within their time limit. Callers that reach the server with the same address, protocol,
 * credentials, and headers get the same error immediately for a while. The behavior of a server toward one caller's credentials
 * never affects another caller's credentials.
 */
export class UnresponsiveServers {
  readonly #cache: BoundedCache<UnresponsiveEntry>;
  readonly #clock: Clock;

  constructor(caches: Caches, clock: Clock) {
    const countBytes = ({ problem }: UnresponsiveEntry): number => problem.length;
    this.#cache = caches.create('mcp_mute', { maxBytes: maxUnresponsiveBytes, countBytes });
    this.#clock = clock;
  }

  /**
   * Runs `work`, unless the server was unresponsive within the last minute. Then rejects with `UnresponsiveServerError`.
   * Otherwise, rejects with the error of `work`.
   */
  async guard<Value>(settings: McpToolsetSettings, work: () => Promise<Value>): Promise<Value> {
    const key = computeKey(settings);
    const entry = this.#cache.find(key);
    if (entry !== undefined && entry.untilMs > this.#clock.nowMs())
      throw new UnresponsiveServerError(settings.name, entry.problem);
    try {
      return await work();
    } catch (error) {
      if (error instanceof UnresponsiveServerError)
        this.#cache.set(key, { problem: error.problem, untilMs: this.#clock.nowMs() + unresponsiveMs });
      throw error;
    }
  }

  /** Removes the entry of a server that responds again. */
  forget(settings: McpToolsetSettings): void {
    this.#cache.delete(computeKey(settings));
  }
}

/** Hashes all parts into one key, so that keys contain no secrets. */
export function computeHash(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64');
}
