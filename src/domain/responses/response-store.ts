import type { JsonObject } from '#base/json/json.ts';
import type { Oversize, PageBounds } from './conversation-store.ts';

/** Status of a response. `queued` and `in_progress` mean that it has not ended. */
export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** A stored response with the items of its request. */
export interface StoredResponse {
  readonly id: string;
  /** Subject of the owner. Only the owner can read the response. */
  readonly subject: string;
  readonly status: ResponseStatus;
  /** Whether the response continues if its client disconnects. */
  readonly isBackground: boolean;
  /** Whether it is the run of a chat completion. Its events are chunks, and only the routes of chat runs return it. */
  readonly isChatRun?: boolean;
  /** ID of the previous response, whose items this one continues. */
  readonly previousId: string | undefined;
  readonly createdAtMs: number;
  /** Time of its deletion, unless a later response continues it. */
  readonly expiresAtMs: number;
  /** Response as the client receives it. */
  readonly response: JsonObject;
  /** Items of this request, each with an ID, earliest first. */
  readonly input: readonly JsonObject[];
  /**
   * Output in the form that the next turn needs, including items that are hidden from clients. Undefined if it equals the
   * output.
   */
  readonly items?: readonly JsonObject[] | undefined;
}

/** A response that has not ended, and the node that answers it. */
export interface RunningResponse extends StoredResponse {
  readonly node: string;
}

/** Reference to a response of a user. */
export interface ResponseRef {
  readonly id: string;
  readonly subject: string;
}

/** A write that the store did not confirm. */
export type UnconfirmedWrite = Pick<StoredResponse, 'id' | 'subject' | 'createdAtMs'>;

/** Items appended to a conversation when a response ends, which also ends its turn there. */
export interface ConversationTurn {
  readonly conversation: string;
  /** Run that started the turn. */
  readonly run: string;
  readonly items: readonly JsonObject[];
}

export interface EndedResponse {
  readonly response: StoredResponse;
  readonly turn?: ConversationTurn | undefined;
  /** Last events of a run whose events are stored. */
  readonly events?: EventBatch | undefined;
}

/** Consecutive events of a response, by `sequence_number`. */
export interface EventBatch {
  /** `sequence_number` of the first event. */
  readonly first: number;
  readonly events: readonly JsonObject[];
}

export interface ChainBounds {
  readonly nowMs: number;
  /** Maximum size of all responses of the chain together. */
  readonly maxBytes: number;
}

/** Page of a user's background responses. */
export interface BackgroundQuery extends PageBounds {
  /** ID of the response directly before the page. */
  readonly after: string | undefined;
  readonly nowMs: number;
}

/** Reason why a response cannot be continued: a response of the chain is missing, or the chain is too large. */
export type BrokenChain = { readonly missingId: string } | Oversize;

export interface ResponsePage {
  readonly responses: readonly StoredResponse[];
  readonly hasMore: boolean;
}

/** A response of a chain. */
export interface ChainLink {
  readonly id: string;
  /** Size of the response including its events. */
  readonly bytes: number;
}

/** A run that waits for a node, with the data to answer it. */
export interface QueuedRun extends ResponseRef {
  readonly run: JsonObject;
}

/**
 * Port that stores responses of users for all nodes. A response of another user counts as missing. Each operation is atomic,
 * and durable after it resolves. Throws `StoreError`.
 */
export interface ResponseStore {
  find(ref: ResponseRef, nowMs: number): Promise<StoredResponse | undefined>;
  /** Returns a response and those that it continues, earliest first, or the reason why they are unavailable. */
  findChain(ref: ResponseRef, bounds: ChainBounds): Promise<readonly StoredResponse[] | BrokenChain>;
  /**
   * Returns the IDs and sizes of a response and those that it continues, earliest first. Returns only the response itself if an
   * earlier one is missing or if the chain is too large, and none if the response is missing.
   */
  listChain(ref: ResponseRef, bounds: ChainBounds): Promise<readonly ChainLink[]>;
  /** Returns background responses of a user after `after`, latest first. Returns undefined if `after` is not one of them. */
  listBackground(subject: string, query: BackgroundQuery): Promise<ResponsePage | undefined>;
  /**
   * Returns items of a user's responses and conversations, by ID. `maxBytes` limits the total size of these responses and of
   * these conversation items.
   */
  findItems(subject: string, ids: readonly string[], maxBytes: number): Promise<ReadonlyMap<string, JsonObject> | Oversize>;
  /** Stores a response that starts. With `run`, any node may answer it later. */
  begin(response: RunningResponse, run?: JsonObject): Promise<void>;
  /** Stores a response that was not stored before. */
  add(response: StoredResponse): Promise<void>;
  /**
   * Stores the end of a response that started on `node`. Returns false and stores no data if the response was deleted,
   * canceled, or marked as failed in the meantime.
   */
  end(ended: EndedResponse, node: string): Promise<boolean>;
  /** Deletes a response with its events and items, even if it has not ended. Returns whether it existed. */
  delete(ref: ResponseRef): Promise<boolean>;
  /**
   * Deletes a response that this node may have written without a confirmation. A client can choose the ID of a chat run, so a
   * response that another node stored with this ID remains.
   */
  deleteUnconfirmed(write: UnconfirmedWrite, node: string): Promise<void>;
  /** Marks a run as canceled if it has not ended. Returns the resulting response. */
  cancel(ref: ResponseRef): Promise<StoredResponse | undefined>;
  /**
   * Returns the size of a user's responses and conversations in bytes, after deletion of the oldest ended responses if
   * necessary.
   */
  deleteOldest(subject: string, maxBytes: number): Promise<number>;
  /** Deletes expired responses. Returns their number. */
  sweep(nowMs: number): Promise<number>;
  readonly runs: RunStore;
}

/** Port that stores responses that have not ended. */
export interface RunStore {
  /**
   * Stores a chat run that starts on this node. Returns false and stores no data if its ID is in use, or if the user has
   * `maxRuns` chat runs that have not ended. Concurrent requests to PostgreSQL may exceed `maxRuns` slightly.
   */
  beginChatRun(run: RunningResponse, maxRuns: number): Promise<boolean>;
  /** Claims a queued run for this node. Returns undefined if another live node holds it, or if it is no longer queued. */
  claim(ref: ResponseRef, node: string, nowMs: number): Promise<QueuedRun | undefined>;
  /** Marks this node's run as in progress. Returns false if it was canceled or deleted, or is already in progress. */
  start(ref: ResponseRef, node: string): Promise<boolean>;
  /** Returns up to `limit` queued runs that no live node holds, oldest first. */
  listWaiting(nowMs: number, limit: number): Promise<readonly ResponseRef[]>;
  /** Returns a queued run to the queue for another node, or releases a canceled run. */
  release(ref: ResponseRef, node: string): Promise<void>;
  /**
   * Stores events in order. Returns false if the node no longer owns the run because it was canceled, deleted, or marked as
   * failed.
   */
  append(ref: ResponseRef, node: string, batch: EventBatch): Promise<boolean>;
  /** Returns events after a `sequence_number`, earliest first. Returns a limited number per call. */
  readEventsAfter(id: string, after: number): Promise<readonly JsonObject[]>;
  /** Returns whether the response exists and has not ended. */
  isInProgress(ref: ResponseRef): Promise<boolean>;
  /** Returns the IDs of the responses that a node must answer. */
  listRunning(node: string): Promise<ReadonlySet<string>>;
  /** Extends the lease of a node until `untilMs`. */
  renewLease(node: string, untilMs: number): Promise<void>;
  /** Ends the lease of a node that stopped. */
  releaseLease(node: string): Promise<void>;
  /**
   * Ends a batch of runs whose node is gone. `toFailed` returns the end of a run, and receives the number of its next event.
   * Returns the number of ended runs. 0 means that no such runs remain.
   */
  failOrphaned(nowMs: number, toFailed: (orphan: StoredResponse, nextEvent: number) => EndedResponse): Promise<number>;
}
