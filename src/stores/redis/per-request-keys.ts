import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { type PerRequestKeys, toKeyDigest } from '#domain/callers/per-request-keys.ts';
import { StoreError } from '#domain/store-error.ts';
import { toModelUsages } from '#domain/usage/usage.ts';
import { applyReport, type KeyReport, parseCaller, serializeCaller, toRightsChange } from '../stored-caller.ts';
import type { RedisLink } from './redis-link.ts';

/** Time until the keys of a crashed node expire (docs/write-an-application.md, Per-request keys). */
const defaultLifetimeMs = 60_000;
const renewalsPerLifetime = 4;
/** Keys contain no dots, because text with three parts separated by dots is treated as a JWT. */
const keyPattern = /^parley-([\w-]{16})-[\w-]{22,86}$/;

export interface RedisKeysDeps {
  readonly link: RedisLink;
  readonly clock: Clock;
  /** Returns at least 128 random bits as base64url. */
  readonly createRandomPart: () => string;
  /** Called with errors that do not fail a call. */
  readonly reportError: (message: string, error: unknown) => void;
  /** Time until the keys of a crashed node expire, in milliseconds. Default: 60 s. */
  readonly lifetimeMs?: number;
}

/**
 * Per-request keys that every node accepts. A key contains the ID of the node that issued it. Redis stores only digests: one hash
 * per node, which expires unless the node renews it.
 */
export class RedisPerRequestKeys implements PerRequestKeys {
  readonly #deps: RedisKeysDeps;
  readonly #lifetimeMs: number;
  readonly #hash: string;
  readonly #reports: KeyReports;
  /** Callers of the calls in progress on this node, by digest of their keys. */
  readonly #ownCallers = new Map<string, Caller>();
  readonly #renewal: NodeJS.Timeout;
  /** Whether the keys in Redis may differ from the calls in progress. */
  #isOutdated = false;

  constructor(deps: RedisKeysDeps) {
    const { link, lifetimeMs = defaultLifetimeMs } = deps;
    this.#deps = deps;
    this.#lifetimeMs = lifetimeMs;
    this.#hash = toHashKey(link.node);
    this.#reports = new KeyReports({ ...deps, deliver: (digest, report) => applyReport(this.#ownCallers.get(digest), report) });
    this.#renewal = setInterval(() => this.#renew(), lifetimeMs / renewalsPerLifetime).unref();
    link.onReady(this.#hash, () => this.#replaceAll());
  }

  async issue(caller: Caller): Promise<string> {
    const { link, createRandomPart } = this.#deps;
    const key = `parley-${link.node}-${createRandomPart()}`;
    const digest = toKeyDigest(key);
    this.#ownCallers.set(digest, caller);
    caller.chain?.rights.onChange(() => this.#updateRights(digest));
    try {
      await this.#write(digest, caller);
    } catch (error) {
      // The command may have been executed despite the error.
      this.#ownCallers.delete(digest);
      this.#isOutdated = true;
      throw error;
    }
    return key;
  }

  async revoke(key: string): Promise<void> {
    const digest = toKeyDigest(key);
    if (!this.#ownCallers.delete(digest)) return;
    await this.#tryOrMarkOutdated('a per-request key could not be revoked', () =>
      this.#deps.link.run((redis) => redis.hdel(this.#hash, digest)),
    );
  }

  async find(key: string): Promise<Caller | undefined> {
    const { link } = this.#deps;
    const node = keyPattern.exec(key)?.[1];
    if (node === undefined) return undefined;
    const digest = toKeyDigest(key);
    if (node === link.node) return this.#ownCallers.get(digest);
    const stored = await link.run((redis) => redis.hget(toHashKey(node), digest));
    if (stored === null) return undefined;
    return parseCaller(stored, {
      report: (usage) => this.#reports.sendUsage({ node, digest }, usage),
      onRightsChange: (rights) => this.#reports.send({ node, digest }, { usage: [], rights }),
    });
  }

  /** Revokes the keys of this node on all nodes. */
  async close(): Promise<void> {
    clearInterval(this.#renewal);
    this.#ownCallers.clear();
    await this.#tryOrMarkOutdated('per-request keys could not be revoked', () =>
      this.#deps.link.run((redis) => redis.del(this.#hash)),
    );
  }

  /** Updates the stored rights of a key, unless the key is revoked. */
  async #updateRights(digest: string): Promise<void> {
    const caller = this.#ownCallers.get(digest);
    if (caller === undefined) return;
    try {
      await this.#write(digest, caller);
    } catch (error) {
      this.#isOutdated = true;
      throw error;
    }
  }

  async #write(digest: string, caller: Caller): Promise<void> {
    await this.#deps.link.transact((transaction) =>
      transaction.hset(this.#hash, digest, serializeCaller(caller)).pexpire(this.#hash, this.#lifetimeMs),
    );
  }

  /** Renews the hash with one command, or writes it again if Redis has lost it. */
  async #renew(): Promise<void> {
    if (this.#ownCallers.size === 0 && !this.#isOutdated) return;
    await this.#tryOrMarkOutdated('per-request keys could not be renewed', async () => {
      const exists = await this.#deps.link.run((redis) => redis.pexpire(this.#hash, this.#lifetimeMs));
      if (exists === 0 || this.#isOutdated) await this.#replaceAll();
    });
  }

  /** Replaces the stored keys with the keys of the calls in progress. */
  async #replaceAll(): Promise<void> {
    if (this.#ownCallers.size === 0 && !this.#isOutdated) return;
    this.#isOutdated = false;
    const fields = new Map([...this.#ownCallers].map(([digest, caller]) => [digest, serializeCaller(caller)]));
    await this.#tryOrMarkOutdated('per-request keys could not be restored', () =>
      this.#deps.link.transact((transaction) => {
        const cleared = transaction.del(this.#hash);
        return fields.size === 0 ? cleared : cleared.hset(this.#hash, fields).pexpire(this.#hash, this.#lifetimeMs);
      }),
    );
  }

  /** Runs an action. If it fails, the next renewal repairs the stored keys. */
  async #tryOrMarkOutdated(failureMessage: string, action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#isOutdated = true;
      this.#deps.reportError(failureMessage, error);
    }
  }
}

function toHashKey(node: string): string {
  return `parley:keys:${node}`;
}

const answerTimeoutMs = 2_000;

/** A key of another node. */
interface RemoteKey {
  readonly node: string;
  readonly digest: string;
}

interface KeyReportsDeps {
  readonly link: RedisLink;
  readonly clock: Clock;
  /** Called with the error if a report of usage or an acknowledgement is lost. */
  readonly reportError: (message: string, error: unknown) => void;
  /** Called with a report from another node about a key of this node. The report is acknowledged when the promise resolves. */
  readonly deliver: (digest: string, report: KeyReport) => Promise<void>;
}

/** Sends reports about keys to the nodes that issued them, and waits until the receiving node acknowledges them. */
class KeyReports {
  readonly #deps: KeyReportsDeps;
  /** Pending acknowledgements by report number. */
  readonly #pendingAcknowledgements = new Map<number, () => void>();
  #sentCount = 0;

  constructor(deps: KeyReportsDeps) {
    this.#deps = deps;
    deps.link.subscribe(toChannel(deps.link.node), (text) => void this.#onMessage(text));
  }

  /** Resolves when the other node has acknowledged the report, or when the report is lost. */
  async sendUsage(key: RemoteKey, usage: readonly ModelUsage[]): Promise<void> {
    await this.send(key, { usage }).catch((error) =>
      this.#deps.reportError('the usage of a call could not be reported to the node that issued its key', error),
    );
  }

  /** Resolves when the other node has applied the report. Rejects with `StoreError`. */
  async send(key: RemoteKey, report: KeyReport): Promise<void> {
    this.#sentCount += 1;
    const id = this.#sentCount;
    const answered = new Promise<void>((resolve) => this.#pendingAcknowledgements.set(id, resolve));
    const stop = new AbortController();
    try {
      await this.#publish(id, key, report);
      await Promise.race([answered, this.#failWhenLate(stop.signal)]);
    } finally {
      this.#pendingAcknowledgements.delete(id);
      stop.abort();
    }
  }

  async #publish(id: number, { node, digest }: RemoteKey, report: KeyReport): Promise<void> {
    const { link } = this.#deps;
    const listenerCount = await link.publish(toChannel(node), JSON.stringify({ from: link.node, id, digest, ...report }));
    if (listenerCount === 0) throw new StoreError('the node that issued the key has ended');
  }

  async #failWhenLate(stop: AbortSignal): Promise<never> {
    await this.#deps.clock.sleep(answerTimeoutMs, stop);
    throw new StoreError('the node that issued the key did not answer in time');
  }

  async #onMessage(text: string): Promise<void> {
    const message = tryParseJson(text);
    if (!isJsonObject(message)) return;
    const { answers, from, id, digest } = message;
    if (typeof answers === 'number') this.#pendingAcknowledgements.get(answers)?.();
    if (typeof from !== 'string' || typeof digest !== 'string') return;
    try {
      await this.#deps.deliver(digest, toReport(message));
      // If the acknowledgement is lost, the other node reports an error.
      await this.#deps.link.publish(toChannel(from), JSON.stringify({ answers: id }));
    } catch (error) {
      this.#deps.reportError('a report about a key could not be acknowledged to another node', error);
    }
  }
}

function toReport({ usage, rights }: JsonObject): KeyReport {
  const change = toRightsChange(rights);
  return { usage: toModelUsages(usage as ModelUsage[]), ...(change && { rights: change }) };
}

function toChannel(node: string): string {
  return `parley:usage:${node}`;
}
