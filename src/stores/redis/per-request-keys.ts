import { hash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import { type KeyReport, KeyReports } from './key-reports.ts';
import type { RedisLink } from './redis-link.ts';
import { fromStored, toStored } from './stored-caller.ts';

/** How long keys outlive their node (docs/wire.md, Credentials). */
const defaultLifeMs = 60_000;
const renewalsInLife = 4;
/** Without dots: whatever has three parts between dots is taken for a token. */
const keyForm = /^parley-([\w-]{16})-[\w-]{22,86}$/;

export interface RedisKeysDeps {
  readonly link: RedisLink;
  readonly clock: Clock;
  /** At least 128 random bits as base64url. */
  readonly newKey: () => string;
  /** Called with faults that fail no call. */
  readonly noteFault: (message: string, thrown: unknown) => void;
  /** How long keys outlive a crash of their node; 60 s if absent. */
  readonly lifeMs?: number;
}

/**
 * Per-request keys that every node knows. A key names the node that made it. Redis holds digests only: a hash for each
 * node, which expires unless the node renews it.
 */
export class RedisPerRequestKeys implements PerRequestKeys {
  readonly #deps: RedisKeysDeps;
  readonly #lifeMs: number;
  readonly #hash: string;
  readonly #reports: KeyReports;
  /** By digest: the callers whose calls are under way on this node. */
  readonly #own = new Map<string, Caller>();
  readonly #renewal: NodeJS.Timeout;
  /** Whether Redis may hold something else than what is under way. */
  #isOutdated = false;

  constructor(deps: RedisKeysDeps) {
    const { link, lifeMs = defaultLifeMs } = deps;
    this.#deps = deps;
    this.#lifeMs = lifeMs;
    this.#hash = hashOf(link.node);
    this.#reports = new KeyReports({ ...deps, deliver: (digest, report) => this.#hear(digest, report) });
    this.#renewal = setInterval(() => this.#renew(), lifeMs / renewalsInLife).unref();
    link.onReady(() => this.#replace());
  }

  async issue(caller: Caller): Promise<string> {
    const { link, newKey } = this.#deps;
    const key = `parley-${link.node}-${newKey()}`;
    const digest = digestOf(key);
    this.#own.set(digest, caller);
    caller.chain?.rights.tell(() => this.#keep(digest));
    try {
      await this.#write(digest, caller);
    } catch (thrown) {
      // It may have been carried out all the same.
      this.#own.delete(digest);
      this.#isOutdated = true;
      throw thrown;
    }
    return key;
  }

  async revoke(key: string): Promise<void> {
    const digest = digestOf(key);
    if (!this.#own.delete(digest)) return;
    await this.#carryOut('a per-request key could not be withdrawn', () =>
      this.#deps.link.run((redis) => redis.hdel(this.#hash, digest)),
    );
  }

  async find(key: string): Promise<Caller | undefined> {
    const { link } = this.#deps;
    const node = keyForm.exec(key)?.[1];
    if (node === undefined) return undefined;
    const digest = digestOf(key);
    if (node === link.node) return this.#own.get(digest);
    const stored = await link.run((redis) => redis.hget(hashOf(node), digest));
    const caller = stored === null ? undefined : fromStored(stored, (usage) => this.#reports.sendUsage({ node, digest }, usage));
    caller?.chain?.rights.tell((change) => this.#reports.sendRights({ node, digest }, change));
    return caller;
  }

  /** Ends the keys of this node, everywhere. */
  async close(): Promise<void> {
    clearInterval(this.#renewal);
    this.#own.clear();
    await this.#carryOut('per-request keys could not be withdrawn', () => this.#deps.link.run((redis) => redis.del(this.#hash)));
  }

  /** What happened on another node with a key of this one. */
  async #hear(digest: string, { usage, rights }: KeyReport): Promise<void> {
    const chain = this.#own.get(digest)?.chain;
    await chain?.report(usage);
    if (rights !== undefined) await chain?.rights.change(rights);
  }

  /** Writes anew what a key may, as long as it is in force. */
  async #keep(digest: string): Promise<void> {
    const caller = this.#own.get(digest);
    if (caller === undefined) return;
    try {
      await this.#write(digest, caller);
    } catch (thrown) {
      this.#isOutdated = true;
      throw thrown;
    }
  }

  async #write(digest: string, caller: Caller): Promise<void> {
    await this.#deps.link.transact((step) => step.hset(this.#hash, digest, toStored(caller)).pexpire(this.#hash, this.#lifeMs));
  }

  /** One command, as long as Redis has not lost the hash. */
  async #renew(): Promise<void> {
    if (this.#own.size === 0 && !this.#isOutdated) return;
    await this.#carryOut('per-request keys could not be renewed', async () => {
      const isThere = await this.#deps.link.run((redis) => redis.pexpire(this.#hash, this.#lifeMs));
      if (isThere === 0 || this.#isOutdated) await this.#replace();
    });
  }

  /** Puts the keys of the calls under way in the place of whatever Redis has. */
  async #replace(): Promise<void> {
    if (this.#own.size === 0 && !this.#isOutdated) return;
    this.#isOutdated = false;
    const fields = new Map([...this.#own].map(([digest, caller]) => [digest, toStored(caller)]));
    await this.#carryOut('per-request keys could not be put back', () =>
      this.#deps.link.transact((step) => {
        const emptied = step.del(this.#hash);
        return fields.size === 0 ? emptied : emptied.hset(this.#hash, fields).pexpire(this.#hash, this.#lifeMs);
      }),
    );
  }

  /** What cannot be carried out now is made up for at the next renewal. */
  async #carryOut(failing: string, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (thrown) {
      this.#isOutdated = true;
      this.#deps.noteFault(failing, thrown);
    }
  }
}

function hashOf(node: string): string {
  return `parley:keys:${node}`;
}

function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}
