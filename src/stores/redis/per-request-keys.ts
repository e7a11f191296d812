import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { RightsChange } from '#domain/callers/held-rights.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import { StoreError } from '#domain/store-error.ts';
import { toModelUsages } from '#domain/usage/usage.ts';
import type { RedisLink } from './redis-link.ts';
import { fromStored, toRightsChange, toStored } from './stored-caller.ts';

/** How long keys outlive their node (docs/write-an-application.md, Per-request keys). */
const defaultLifetimeMs = 60_000;
const renewalsPerLifetime = 4;
/** Without dots: whatever has three parts between dots is taken for a token. */
const keyForm = /^parley-([\w-]{16})-[\w-]{22,86}$/;

export interface RedisKeysDeps {
  readonly link: RedisLink;
  readonly clock: Clock;
  /** At least 128 random bits as base64url. */
  readonly newKey: () => string;
  /** Called with faults that fail no call. */
  readonly reportError: (message: string, error: unknown) => void;
  /** How long keys outlive a crash of their node; 60 s if absent. */
  readonly lifetimeMs?: number;
}

/**
 * Per-request keys that every node knows. A key names the node that made it. Redis holds digests only: a hash for each
 * node, which expires unless the node renews it.
 */
export class RedisPerRequestKeys implements PerRequestKeys {
  readonly #deps: RedisKeysDeps;
  readonly #lifetimeMs: number;
  readonly #hash: string;
  readonly #reports: KeyReports;
  /** By digest: the callers whose calls are under way on this node. */
  readonly #ownCallers = new Map<string, Caller>();
  readonly #renewal: NodeJS.Timeout;
  /** Whether Redis may hold something else than what is under way. */
  #isOutdated = false;

  constructor(deps: RedisKeysDeps) {
    const { link, lifetimeMs = defaultLifetimeMs } = deps;
    this.#deps = deps;
    this.#lifetimeMs = lifetimeMs;
    this.#hash = toHashKey(link.node);
    this.#reports = new KeyReports({ ...deps, deliver: (digest, report) => this.#onReport(digest, report) });
    this.#renewal = setInterval(() => this.#renew(), lifetimeMs / renewalsPerLifetime).unref();
    link.onReady(() => this.#replace());
  }

  async issue(caller: Caller): Promise<string> {
    const { link, newKey } = this.#deps;
    const key = `parley-${link.node}-${newKey()}`;
    const digest = toDigest(key);
    this.#ownCallers.set(digest, caller);
    caller.chain?.rights.onChange(() => this.#store(digest));
    try {
      await this.#write(digest, caller);
    } catch (error) {
      // It may have been carried out all the same.
      this.#ownCallers.delete(digest);
      this.#isOutdated = true;
      throw error;
    }
    return key;
  }

  async revoke(key: string): Promise<void> {
    const digest = toDigest(key);
    if (!this.#ownCallers.delete(digest)) return;
    await this.#tryOrMarkOutdated('a per-request key could not be withdrawn', () =>
      this.#deps.link.run((redis) => redis.hdel(this.#hash, digest)),
    );
  }

  async find(key: string): Promise<Caller | undefined> {
    const { link } = this.#deps;
    const node = keyForm.exec(key)?.[1];
    if (node === undefined) return undefined;
    const digest = toDigest(key);
    if (node === link.node) return this.#ownCallers.get(digest);
    const stored = await link.run((redis) => redis.hget(toHashKey(node), digest));
    const caller = stored === null ? undefined : fromStored(stored, (usage) => this.#reports.sendUsage({ node, digest }, usage));
    caller?.chain?.rights.onChange((change) => this.#reports.sendRights({ node, digest }, change));
    return caller;
  }

  /** Ends the keys of this node, everywhere. */
  async close(): Promise<void> {
    clearInterval(this.#renewal);
    this.#ownCallers.clear();
    await this.#tryOrMarkOutdated('per-request keys could not be withdrawn', () =>
      this.#deps.link.run((redis) => redis.del(this.#hash)),
    );
  }

  /** What happened on another node with a key of this one. */
  async #onReport(digest: string, { usage, rights }: KeyReport): Promise<void> {
    const chain = this.#ownCallers.get(digest)?.chain;
    await chain?.report(usage);
    if (rights !== undefined) await chain?.rights.change(rights);
  }

  /** Writes anew what a key may, as long as it is in force. */
  async #store(digest: string): Promise<void> {
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
    await this.#deps.link.transact((step) =>
      step.hset(this.#hash, digest, toStored(caller)).pexpire(this.#hash, this.#lifetimeMs),
    );
  }

  /** One command, as long as Redis has not lost the hash. */
  async #renew(): Promise<void> {
    if (this.#ownCallers.size === 0 && !this.#isOutdated) return;
    await this.#tryOrMarkOutdated('per-request keys could not be renewed', async () => {
      const isThere = await this.#deps.link.run((redis) => redis.pexpire(this.#hash, this.#lifetimeMs));
      if (isThere === 0 || this.#isOutdated) await this.#replace();
    });
  }

  /** Puts the keys of the calls under way in the place of whatever Redis has. */
  async #replace(): Promise<void> {
    if (this.#ownCallers.size === 0 && !this.#isOutdated) return;
    this.#isOutdated = false;
    const fields = new Map([...this.#ownCallers].map(([digest, caller]) => [digest, toStored(caller)]));
    await this.#tryOrMarkOutdated('per-request keys could not be put back', () =>
      this.#deps.link.transact((step) => {
        const cleared = step.del(this.#hash);
        return fields.size === 0 ? cleared : cleared.hset(this.#hash, fields).pexpire(this.#hash, this.#lifetimeMs);
      }),
    );
  }

  /** What cannot be carried out now is made up for at the next renewal. */
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

function toDigest(key: string): string {
  return hash('sha256', key, 'base64url');
}

const answerTimeoutMs = 2_000;

/** What happened with a key, to be told to the node that made it: what a call used, and how its rights change. */
interface KeyReport {
  readonly usage: readonly ModelUsage[];
  readonly rights?: RightsChange;
}

/** A key of another node. */
interface RemoteKey {
  readonly node: string;
  readonly digest: string;
}

interface KeyReportsDeps {
  readonly link: RedisLink;
  readonly clock: Clock;
  /** Called with reports that got lost. */
  readonly reportError: (message: string, error: unknown) => void;
  /** Called with what happened elsewhere with a key of this node; it is answered when that resolves, and not where it rejects. */
  readonly deliver: (digest: string, report: KeyReport) => void | Promise<void>;
}

/** Tells the node that made a key what happened with it on another; it answers, so that the other one can wait until it knows. */
class KeyReports {
  readonly #deps: KeyReportsDeps;
  /** By the number of the report. */
  readonly #unanswered = new Map<number, () => void>();
  #sent = 0;

  constructor(deps: KeyReportsDeps) {
    this.#deps = deps;
    deps.link.subscribe(toChannel(deps.link.node), (text) => void this.#onMessage(text));
  }

  /** Resolves once the other node has it, or never will. */
  async sendUsage(key: RemoteKey, usage: readonly ModelUsage[]): Promise<void> {
    await this.#send(key, { usage }).catch((error) =>
      this.#deps.reportError('what a call used could not be reported to the node that made its key', error),
    );
  }

  /** Resolves once it is in force. Rejects with StoreFault. */
  sendRights(key: RemoteKey, rights: RightsChange): Promise<void> {
    return this.#send(key, { usage: [], rights });
  }

  async #send(key: RemoteKey, report: KeyReport): Promise<void> {
    this.#sent += 1;
    const id = this.#sent;
    const answered = new Promise<void>((resolve) => this.#unanswered.set(id, resolve));
    const stop = new AbortController();
    try {
      await this.#publish(id, key, report);
      await Promise.race([answered, this.#failWhenLate(stop.signal)]);
    } finally {
      this.#unanswered.delete(id);
      stop.abort();
    }
  }

  async #publish(id: number, { node, digest }: RemoteKey, report: KeyReport): Promise<void> {
    const { link } = this.#deps;
    const listenerCount = await link.publish(toChannel(node), JSON.stringify({ from: link.node, id, digest, ...report }));
    if (listenerCount === 0) throw new StoreError('the node that made the key is gone');
  }

  async #failWhenLate(stop: AbortSignal): Promise<never> {
    await this.#deps.clock.sleep(answerTimeoutMs, stop);
    throw new StoreError('the node that made the key did not answer in time');
  }

  async #onMessage(text: string): Promise<void> {
    const message = tryParseJson(text);
    if (!isJsonObject(message)) return;
    const { answers, from, id, digest } = message;
    if (typeof answers === 'number') this.#unanswered.get(answers)?.();
    if (typeof from !== 'string' || typeof digest !== 'string') return;
    try {
      await this.#deps.deliver(digest, toReport(message));
      // If the answer gets lost, the other node notes it.
      await this.#deps.link.publish(toChannel(from), JSON.stringify({ answers: id }));
    } catch (error) {
      this.#deps.reportError('another node was not told that what happened with a key is known', error);
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
