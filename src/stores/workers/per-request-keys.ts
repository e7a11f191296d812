import type { RequestChannel } from '#base/net/request-channel.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { type PerRequestKeys, toKeyDigest } from '#domain/callers/per-request-keys.ts';
import { StoreError, throwStoreError } from '#domain/store-error.ts';
import { applyReport, type KeyReport, parseCaller, serializeCaller } from '../stored-caller.ts';

/** Keys contain no dots, because text with three parts between dots is treated as a token. */
const keyPattern = /^parley-w(\d{1,9})-[\w-]{22,86}$/;

/** Report about the key with this digest. */
interface SentKeyReport extends KeyReport {
  readonly digest: string;
}

export interface WorkerKeysDeps {
  readonly channel: RequestChannel;
  /** Number of this worker process. No other process of the node has or had the number. */
  readonly worker: number;
  /** Returns at least 128 random bits as base64url. */
  readonly createRandomPart: () => string;
  /** Called with errors that do not fail a call. */
  readonly reportError: (message: string, error: unknown) => void;
}

/**
 * Per-request keys that every worker of a node accepts. A key contains the number of the worker that issued it. Other workers
 * request the caller from that worker.
 */
export class WorkerPerRequestKeys implements PerRequestKeys {
  readonly #deps: WorkerKeysDeps;
  /** Callers of the calls in progress in this worker, by digest of their keys. */
  readonly #callers = new Map<string, Caller>();

  constructor(deps: WorkerKeysDeps) {
    this.#deps = deps;
  }

  async issue(caller: Caller): Promise<string> {
    const key = `parley-w${this.#deps.worker}-${this.#deps.createRandomPart()}`;
    this.#callers.set(toKeyDigest(key), caller);
    return key;
  }

  async revoke(key: string): Promise<void> {
    this.#callers.delete(toKeyDigest(key));
  }

  async find(key: string): Promise<Caller | undefined> {
    const number = keyPattern.exec(key)?.[1];
    if (number === undefined) return undefined;
    const digest = toKeyDigest(key);
    const worker = Number(number);
    if (worker === this.#deps.worker) return this.#callers.get(digest);
    const stored = await this.#request(worker, 'keys.find', digest);
    if (typeof stored !== 'string') return undefined;
    return parseCaller(stored, {
      report: (usage) =>
        this.#sendReport(worker, { digest, usage }).catch((error) =>
          this.#deps.reportError('the usage of a call could not be reported to the worker that issued its key', error),
        ),
      onRightsChange: (rights) => this.#sendReport(worker, { digest, usage: [], rights }),
    });
  }

  /** Returns a caller of this worker for another worker. */
  readonly findStored = (digest: string): string | null => {
    const caller = this.#callers.get(digest);
    return caller === undefined ? null : serializeCaller(caller);
  };

  /** Applies a report of another worker about a key of this worker. */
  readonly onReport = async ({ digest, ...report }: SentKeyReport): Promise<true> => {
    await applyReport(this.#callers.get(digest), report);
    return true;
  };

  async #sendReport(worker: number, report: SentKeyReport): Promise<void> {
    if ((await this.#request(worker, 'keys.report', report)) !== true)
      throw new StoreError('the worker that issued the key has ended');
  }

  /** Sends a request to another worker. Returns null if the worker has ended. Throws `StoreError`. */
  #request(worker: number, topic: string, body: unknown): Promise<unknown> {
    const answer = this.#deps.channel.request('relay', { worker, topic, body });
    return answer.catch(throwStoreError('the worker that issued the key did not answer'));
  }
}
