import type { JsonObject } from '#base/json/json.ts';

/** Where a response stands. The first two have not ended. */
export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** A response as it is kept: what was answered, and the items that were asked with. */
export interface StoredResponse {
  readonly id: string;
  /** Whose it is: nobody else ever sees it. */
  readonly subject: string;
  readonly status: ResponseStatus;
  /** Whether it goes on without its caller. */
  readonly isBackground: boolean;
  /** The response before it, whose items this one goes on from. */
  readonly previousId: string | undefined;
  readonly createdAtMs: number;
  /** When it is deleted, unless a later response goes on from it. */
  readonly expiresAtMs: number;
  /** As it is answered. */
  readonly response: JsonObject;
  /** What this request brought, each with an id, the earliest first. */
  readonly input: readonly JsonObject[];
  /** Its output as the next turn needs it, with what no caller is shown; absent if that is the output. */
  readonly items?: readonly JsonObject[] | undefined;
}

/** A response that has not ended, and the node that answers it. */
export interface RunningResponse extends StoredResponse {
  readonly node: string;
}

/** Whose, and which. */
export interface ResponseRef {
  readonly id: string;
  readonly subject: string;
}

/** Items appended to a conversation when a response ends, which also ends its turn there. */
export interface ConversationTurn {
  readonly conversation: string;
  /** As it was begun there. */
  readonly run: string;
  readonly items: readonly JsonObject[];
}

export interface EndedResponse {
  readonly response: StoredResponse;
  readonly turn?: ConversationTurn | undefined;
  /** Events that come with the end, of a run that is kept event by event. */
  readonly events?: EventRun | undefined;
}

/** Events of a response in a row, by `sequence_number`. */
export interface EventRun {
  /** Of the first of them. */
  readonly first: number;
  readonly events: readonly JsonObject[];
}

export interface ChainBounds {
  readonly nowMs: number;
  /** Of all of them together. */
  readonly maxBytes: number;
}

/** Which responses of a list are asked for. */
export interface BackgroundQuery {
  readonly limit: number;
  /** Id of the one that comes right before them. */
  readonly after: string | undefined;
  readonly nowMs: number;
}

/** Why a response cannot be gone on from: one of the chain is missing, or there is too much of it. */
export type BrokenChain = { readonly absent: string } | { readonly bytes: number };

/** A run that waits for a node: all that one needs to answer it. */
export interface QueuedRun extends ResponseRef {
  readonly run: JsonObject;
}

/**
 * Port: responses of users, on all nodes. Whatever is asked of another user's is answered as if there were none. Each step is
 * atomic, and durable once it resolves. Throws StoreFault.
 */
export interface ResponseStore {
  find(ref: ResponseRef, nowMs: number): Promise<StoredResponse | undefined>;
  /** A response and those it goes on from, the earliest first, or why they cannot be had. */
  chain(ref: ResponseRef, bounds: ChainBounds): Promise<readonly StoredResponse[] | BrokenChain>;
  /** What a user had made in the background, the latest first, `limit` of them behind `after`; undefined if that is none of them. */
  listBackground(subject: string, query: BackgroundQuery): Promise<readonly StoredResponse[] | undefined>;
  /** Items of responses and conversations of a user, by their ids. */
  findItems(subject: string, ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>>;
  /** Keeps a response that begins; with `run`, one that may be answered by any node later on. */
  begin(response: RunningResponse, run?: JsonObject): Promise<void>;
  /** Keeps a response that was not kept before. */
  add(response: StoredResponse): Promise<void>;
  /** Keeps the end of a response that began on `node`; false if it was deleted, cancelled or given up meanwhile: then nothing is kept of it. */
  end(ended: EndedResponse, node: string): Promise<boolean>;
  /** Gives whether there was one. Its events and items go with it, also if it has not ended. */
  delete(ref: ResponseRef): Promise<boolean>;
  /** Marks a run as cancelled if it has not ended; gives what it is then. */
  cancel(ref: ResponseRef): Promise<StoredResponse | undefined>;
  /** Bytes that responses and conversations of a user take, and makes room by deleting its oldest responses that have ended. */
  deleteBeyond(subject: string, maxBytes: number): Promise<number>;
  /** Deletes what has expired; gives how many. */
  sweep(nowMs: number): Promise<number>;
  readonly runs: RunStore;
}

/** Port: responses that have not ended. */
export interface RunStore {
  /** Makes a queued run this node's own; undefined if another living node has it, or it is queued no longer. */
  claim(ref: ResponseRef, node: string, nowMs: number): Promise<QueuedRun | undefined>;
  /** Says that this node's run is answered from now on; false if it was cancelled or deleted, or is answered already. */
  start(ref: ResponseRef, node: string): Promise<boolean>;
  /** The oldest queued runs that no living node has, at most so many. */
  listWaiting(nowMs: number, limit: number): Promise<readonly ResponseRef[]>;
  /** Puts a queued run back, for another node to answer, and lets go of one that was cancelled. */
  release(ref: ResponseRef, node: string): Promise<void>;
  /** Keeps events in their order; false if the run is no longer this node's: cancelled, deleted, or given up. */
  append(ref: ResponseRef, node: string, run: EventRun): Promise<boolean>;
  /** Events behind a `sequence_number`, the earliest first; not always all of them. */
  readEventsAfter(id: string, after: number): Promise<readonly JsonObject[]>;
  /** Whether it has not ended; false also for one that is not there. */
  isInProgress(ref: ResponseRef): Promise<boolean>;
  /** Ids of the responses that a node is to answer. */
  listRunning(node: string): Promise<ReadonlySet<string>>;
  /** Says that a node lives, until then. */
  renewLease(node: string, untilMs: number): Promise<void>;
  /** Says that a node has stopped. */
  releaseLease(node: string): Promise<void>;
  /** Ends those whose node is gone as `fail` says, given the number of their next event, some at once; gives how many there were: 0 once all are done. */
  failOrphaned(nowMs: number, toFailed: (orphan: StoredResponse, nextEvent: number) => EndedResponse): Promise<number>;
}
