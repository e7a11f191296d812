import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import { RecurringTasks } from '#base/time/recurring-tasks.ts';
import type { NodeRecord, NodeStore } from '#domain/administration/node-record.ts';

const renewIntervalMs = 4_000;
/** Time after which other nodes treat a node without renewals as stopped. */
const leaseMs = 15_000;
/** Maximum time between two renewals. After a longer gap, the records of other nodes may have expired too. */
const maxGapMs = 2 * renewIntervalMs;

export interface NodeRegistryDeps {
  /** Undefined if there are no other nodes. */
  readonly store: NodeStore | undefined;
  /** Name of this node. It is new after each start. */
  readonly node: string;
  readonly clock: Pick<Clock, 'epochMs'>;
  /** Returns the state of this node. */
  readonly report: () => JsonObject;
  readonly reportError: (message: string, error: unknown) => void;
}

/** The running nodes. This node renews its record every 4 seconds. A node that was killed disappears after 15 seconds. */
export class NodeRegistry {
  readonly #deps: NodeRegistryDeps;
  readonly #tasks: RecurringTasks;
  #filesDigest: string | null = null;
  /** Expiry time of the stored record. */
  #untilMs = Number.NEGATIVE_INFINITY;
  #renewedAtMs: number;
  /** Time until which records of other nodes can be missing after an outage. */
  #incompleteUntilMs = Number.NEGATIVE_INFINITY;
  #onRenewed: () => Promise<void> = async () => undefined;

  constructor(deps: NodeRegistryDeps) {
    this.#deps = deps;
    this.#renewedAtMs = deps.clock.epochMs();
    this.#tasks = new RecurringTasks(deps.reportError);
    if (deps.store !== undefined)
      this.#tasks.every(renewIntervalMs, 'could not store the state of this node, so other nodes treat it as stopped', () =>
        this.#renewRegularly(),
      );
  }

  /** Sets the only listener, which is called after each periodic renewal. */
  onRenewed(listener: () => Promise<void>): void {
    this.#onRenewed = listener;
  }

  /** Stores the digest of the configuration files that this node read. Throws `StoreError`. */
  async announceConfiguration(digest: string): Promise<void> {
    this.#filesDigest = digest;
    await this.#renew();
  }

  /**
   * Whether `list` has all running nodes. If a renewal of this node failed or was late, the records of other nodes may have expired
   * too. This is then false until one lease duration after the next successful renewal.
   */
  get isComplete(): boolean {
    const nowMs = this.#deps.clock.epochMs();
    return nowMs > this.#incompleteUntilMs && nowMs - this.#renewedAtMs <= maxGapMs;
  }

  /** Returns all running nodes, including this node with its current state. Throws `StoreError`. */
  async list(): Promise<readonly NodeRecord[]> {
    const { store, clock, node } = this.#deps;
    const records = (await store?.list(clock.epochMs())) ?? [];
    return [this.#toRecord(), ...records.filter((record) => record.node !== node)];
  }

  /** Removes the record of this node, so that other nodes do not wait until it expires. */
  async close(): Promise<void> {
    this.#tasks.close();
    await this.#deps.store?.delete(this.#deps.node).catch(() => undefined);
  }

  /** Throws only after the record has expired, because a busy database can delay one renewal. */
  async #renewRegularly(): Promise<void> {
    try {
      await this.#renew();
      await this.#onRenewed();
    } catch (error) {
      if (this.#deps.clock.epochMs() > this.#untilMs) throw error;
    }
  }

  async #renew(): Promise<void> {
    const record = this.#toRecord();
    try {
      await this.#deps.store?.put(record, this.#deps.clock.epochMs());
    } catch (error) {
      // A failed renewal counts as a gap, even if it is the first one.
      this.#renewedAtMs = Number.NEGATIVE_INFINITY;
      throw error;
    }
    const nowMs = this.#deps.clock.epochMs();
    if (nowMs - this.#renewedAtMs > maxGapMs) this.#incompleteUntilMs = nowMs + leaseMs;
    this.#renewedAtMs = nowMs;
    this.#untilMs = record.untilMs;
  }

  #toRecord(): NodeRecord {
    const { node, clock, report } = this.#deps;
    return { node, untilMs: clock.epochMs() + leaseMs, filesDigest: this.#filesDigest, report: report() };
  }
}
