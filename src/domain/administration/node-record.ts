import type { JsonObject } from '#base/json/json.ts';

/** A node that is running, as other nodes see it. */
export interface NodeRecord {
  /** Name of the node. It is new after each start. */
  readonly node: string;
  /** Time after which other nodes treat the node as stopped. */
  readonly untilMs: number;
  /** Digest of the configuration files that the node read. Null if it has no files. */
  readonly filesDigest: string | null;
  /** State of the node for administrators. */
  readonly report: JsonObject;
}

/** Port that stores the running nodes of an installation. Each method throws `StoreError`. */
export interface NodeStore {
  /** Adds or replaces the record of a node, and deletes records that expired before `nowMs`. */
  put(record: NodeRecord, nowMs: number): Promise<void>;
  delete(node: string): Promise<void>;
  /** Returns the records that have not expired, ordered by node name. */
  list(nowMs: number): Promise<readonly NodeRecord[]>;
}
