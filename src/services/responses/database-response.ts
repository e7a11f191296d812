import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '#base/json/json.ts';
import { type Clock, dayMs } from '#base/time/clock.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { Target } from '#domain/calls/call.ts';
import type { ConversationStore } from '#domain/responses/conversation-store.ts';
import type {
  ConversationTurn,
  EndedResponse,
  EventBatch,
  ResponseStore,
  StoredResponse,
} from '#domain/responses/response-store.ts';
import { isStoredForm, toStoredItem } from '#domain/responses/stored-items.ts';
import type { InputMemory } from '../node/input-memory.ts';
import type { NodeLease } from '../node/node-lease.ts';
import type { OpenedResponse, ResponseResult, StorableResponse } from './response-storage.ts';
import { retryUntilStored, type UnconfirmedWrites } from './unconfirmed-writes.ts';

export interface ResponseStorageDeps {
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  readonly lease: NodeLease;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Called with errors that clients do not see. */
  readonly reportError: (message: string, error: unknown) => void;
  /**
   * Writes of responses that clients may already know, by ID. Each resolves after the store has confirmed or rejected the
   * response.
   */
  readonly startingWrites: Map<string, Promise<unknown>>;
  readonly unconfirmed: UnconfirmedWrites;
  readonly inputMemory: InputMemory;
}

/** Time from the start of a chat run to its expiry. The client copies the answer to its conversation much earlier. */
const chatRunLifetimeMs = dayMs;
/** Maximum number of chat runs of a user at the same time. */
const maxChatRuns = 32;

interface DatabaseResponseOptions {
  readonly target: Target;
  readonly request: Pick<ResponsesRequest, 'previous_response_id' | 'stream'>;
  /** Whether it is the run of a chat completion. */
  readonly isChatRun?: true;
  readonly shouldStore: boolean;
  readonly turn: Omit<ConversationTurn, 'items'> | undefined;
  readonly earlierItems: readonly JsonObject[];
  readonly input: readonly AnyItem[];
  /** Releases the memory of the items at the end of the response. */
  readonly heldMemory: DisposableStack | undefined;
}

/** A response in progress. It is stored when it ends, or already when it starts if clients can know its ID before the end. */
export class DatabaseResponse implements OpenedResponse {
  readonly earlierItems: readonly AnyItem[];
  readonly input: readonly AnyItem[];
  readonly shouldStore: boolean;
  readonly #deps: ResponseStorageDeps;
  readonly #options: DatabaseResponseOptions;
  #input: readonly JsonObject[] | undefined;
  /** Resolves with whether the store has the response. */
  #startWrite: Promise<boolean> | undefined;
  #holdsLease: boolean;

  constructor(deps: ResponseStorageDeps, options: DatabaseResponseOptions) {
    this.#deps = deps;
    this.#options = options;
    this.earlierItems = options.earlierItems as AnyItem[];
    this.input = options.input;
    this.shouldStore = options.shouldStore;
    this.#holdsLease = options.turn !== undefined;
  }

  get conversation(): { readonly id: string } | undefined {
    const { turn } = this.#options;
    return turn && { id: turn.conversation };
  }

  /**
   * A client does not know a non-streaming response before its end, so it is stored from the start only if it belongs to a
   * conversation.
   */
  onStarted(response: ResponseObject): void {
    const { request, turn } = this.#options;
    if (!this.shouldStore || (request.stream !== true && turn === undefined)) return;
    const { startingWrites } = this.#deps;
    this.#startWrite = this.#begin(response).finally(() => startingWrites.delete(response.id));
    startingWrites.set(response.id, this.#startWrite);
  }

  /** Stores a queued run that another node may answer, with the data in `run`. Throws `StoreError`. */
  async queue(response: ResponseObject, run: JsonObject): Promise<void> {
    await this.#holdLease();
    await this.#write(this.#toStored({ response, items: [] }), (stored) =>
      this.#deps.responses.begin({ ...stored, node: this.#deps.lease.node }, run),
    );
    this.#startWrite = Promise.resolve(true);
  }

  /**
   * Stores the start of a chat run, which only this node answers. Returns false if its ID is in use, or if the user has too many
   * chat runs. Throws `StoreError`.
   */
  async beginChatRun(response: StorableResponse): Promise<boolean> {
    const { responses, lease, unconfirmed } = this.#deps;
    await this.#holdLease();
    const stored = this.#toStored({ response, items: [] });
    let isBegun = false;
    await this.#write(stored, async () => {
      isBegun = await responses.runs.beginChatRun({ ...stored, node: lease.node }, maxChatRuns);
    });
    if (!isBegun) return false;
    unconfirmed.remove(stored);
    this.#startWrite = Promise.resolve(true);
    return true;
  }

  /** Continues a stored run that this node has claimed. */
  async resume(): Promise<void> {
    await this.#holdLease();
    this.#startWrite = Promise.resolve(true);
  }

  onEnded(result: ResponseResult | undefined, events?: EventBatch): Promise<boolean> | undefined {
    this.#options.heldMemory?.dispose();
    if (result !== undefined && this.shouldStore) return this.#store(result, events).finally(() => this.#releaseLease());
    if (this.#options.turn === undefined) {
      this.#releaseLease();
      return undefined;
    }
    return this.#releaseConversation()
      .finally(() => this.#releaseLease())
      .then(() => false);
  }

  async #store(result: ResponseResult, events: EventBatch | undefined): Promise<boolean> {
    const { responses, reportError } = this.#deps;
    const { target, turn } = this.#options;
    const stored = this.#toStored(result);
    const { maxBytesPerUser } = target.snapshot.configuration.responses;
    try {
      if (this.#startWrite === undefined) await this.#write(stored, (response) => responses.add(response));
      else if (!(await this.#startWrite)) {
        await this.#releaseConversation();
        return false;
      } else {
        const items = [...stored.input, ...this.#toItems(result)];
        const isEnded = await this.#end({ response: stored, turn: turn && { ...turn, items }, events });
        if (!isEnded) return false;
      }
    } catch (error) {
      reportError('could not store a response', error);
      return false;
    }
    void this.#freeSpace(stored.subject, maxBytesPerUser);
    return true;
  }

  /** Deletes old responses after the last bytes are sent, because clients do not wait for it. Never fails. */
  async #freeSpace(subject: string, maxBytes: number): Promise<void> {
    const { responses, reportError } = this.#deps;
    await nextTurn();
    await nextTurn();
    await responses
      .deleteOldest(subject, maxBytes)
      .catch((error) => reportError('could not delete old responses of a user', error));
  }

  /**
   * Stores the end. Retries in the background if the store is unavailable, because the response must not stay in progress
   * forever.
   */
  async #end(ended: EndedResponse): Promise<boolean> {
    const { responses, lease, clock } = this.#deps;
    const end = (): Promise<boolean> => responses.end(ended, lease.node);
    try {
      return await end();
    } catch (error) {
      const retry = retryUntilStored(clock, end);
      if (ended.response.isBackground) return retry;
      this.#releaseLeaseAfter(retry);
      throw error;
    }
  }

  /** Releases the lock of the conversation. Retries in the background if the store is unavailable. Never fails. */
  async #releaseConversation(): Promise<void> {
    const { conversations, clock } = this.#deps;
    const { turn } = this.#options;
    if (turn === undefined) return;
    const release = (): Promise<void> => conversations.release(turn.conversation, turn.run);
    await release().catch(() => this.#releaseLeaseAfter(retryUntilStored(clock, release)));
  }

  /** Stores the start after the first bytes are sent, in a later turn of the event loop. Until then, clients do not know the response. */
  async #begin(response: ResponseObject): Promise<boolean> {
    await nextTurn();
    await nextTurn();
    try {
      await this.#holdLease();
      await this.#write(this.#toStored({ response, items: [] }), (stored) =>
        this.#deps.responses.begin({ ...stored, node: this.#deps.lease.node }),
      );
      return true;
    } catch (error) {
      this.#deps.reportError('could not store the start of a response', error);
      return false;
    }
  }

  /** If a write fails, records the response for deletion, because the store may have written it without a confirmation. */
  async #write(stored: StoredResponse, write: (stored: StoredResponse) => Promise<void>): Promise<void> {
    try {
      await write(stored);
    } catch (error) {
      this.#deps.unconfirmed.add(stored);
      throw error;
    }
  }

  #toStored(result: ResponseResult): StoredResponse {
    const { target, request, isChatRun } = this.#options;
    const { response } = result;
    const { retentionDays } = target.snapshot.configuration.responses;
    const lifetimeMs = isChatRun === true ? chatRunLifetimeMs : retentionDays * dayMs;
    const createdAtMs = response.created_at * 1000;
    const { output } = response;
    const isOutputComplete =
      result.items.length === output.length && result.items.every((item, index) => item === output[index] && isStoredForm(item));
    this.#input ??= this.input.map((item) => toStoredItem(item as JsonObject, this.#deps.newId));
    return {
      id: response.id,
      subject: target.call.caller.subject,
      status: response.status,
      isBackground: response.background,
      ...(isChatRun && { isChatRun }),
      previousId: request.previous_response_id,
      createdAtMs,
      expiresAtMs: createdAtMs + lifetimeMs,
      response,
      input: this.#input,
      ...(!isOutputComplete && { items: this.#toItems(result) }),
    };
  }

  #toItems({ items }: ResponseResult): readonly JsonObject[] {
    return items.map((item) => toStoredItem(item as JsonObject, this.#deps.newId));
  }

  async #holdLease(): Promise<void> {
    if (this.#holdsLease) return;
    await this.#deps.lease.hold();
    this.#holdsLease = true;
  }

  /** Keeps the lease until the write ends, regardless of other releases. */
  #releaseLeaseAfter(write: Promise<unknown>): void {
    const wasHeld = this.#holdsLease;
    this.#holdsLease = false;
    void write.finally(() => wasHeld && this.#deps.lease.release());
  }

  #releaseLease(): void {
    if (this.#holdsLease) this.#deps.lease.release();
    this.#holdsLease = false;
  }
}
