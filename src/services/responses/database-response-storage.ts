import { FairQueue } from '#base/isolation/fair-queue.ts';
import type { JsonObject } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import { isBoundKey, mayUseRecord } from '#domain/callers/bound-key.ts';
import type { Target } from '#domain/calls/call.ts';
import { isChatRunId } from '#domain/responses/chat-run.ts';
import { isOversize, type Oversize } from '#domain/responses/conversation-store.ts';
import { listCarriedItems } from '#domain/responses/stored-items.ts';
import { DatabaseResponse, type ResponseStorageDeps } from './database-response.ts';
import { type OpenedResponse, type ResponseStorage, unstoredFields } from './response-storage.ts';
import { retryUntilStored } from './unconfirmed-writes.ts';

/** Maximum size of stored items that are read without waiting and without counting in the input memory. */
const smallBytes = 1024 ** 2;
/** Maximum number of concurrent reads of larger items. Each user has at most one. */
const maxLargeReads = 4;

interface StoredItems {
  readonly earlierItems: readonly JsonObject[];
  /** Input of the request, with references replaced by their items. */
  readonly input: readonly AnyItem[];
}

/** Stores responses and conversations in the database. */
export class DatabaseResponseStorage implements ResponseStorage {
  readonly #deps: ResponseStorageDeps;
  readonly #largeReads = new FairQueue({ slots: maxLargeReads });

  constructor(deps: ResponseStorageDeps) {
    this.#deps = deps;
  }

  async open(target: Target, request: ResponsesRequest): Promise<DatabaseResponse> {
    const shouldStore = shouldStoreResponse(target, request);
    if (request.background === true) requireBackground(target, shouldStore);
    const conversation = getConversationId(request);
    const run = conversation === undefined ? undefined : await this.#lockConversation(target, conversation);
    const turn = conversation !== undefined && run !== undefined ? { conversation, run } : undefined;
    using held = new DisposableStack();
    try {
      const items = await this.#readItems(target, request, held);
      return new DatabaseResponse(this.#deps, { target, request, shouldStore, turn, ...items, heldMemory: held.move() });
    } catch (error) {
      if (turn !== undefined) await this.#releaseConversation(turn.conversation, turn.run);
      throw error;
    }
  }

  openChatRun(target: Target): DatabaseResponse {
    const noInput = { turn: undefined, earlierItems: [], input: [], heldMemory: undefined };
    return new DatabaseResponse(this.#deps, { ...noInput, target, request: {}, shouldStore: true, isChatRun: true });
  }

  async openUnlocked(target: Target, request: ResponsesRequest): Promise<OpenedResponse> {
    using held = new DisposableStack();
    const { earlierItems, input } = await this.#readItems(target, request, held);
    const release = held.move();
    const onEnded = (): undefined => void release.dispose();
    return { ...unstoredFields, earlierItems: earlierItems as AnyItem[], input, onEnded };
  }

  /** Reads the items that the request continues or names. Adds the release of their memory to `held`. */
  async #readItems(target: Target, request: ResponsesRequest, held: DisposableStack): Promise<StoredItems> {
    const conversation = getConversationId(request);
    const earlierItems =
      conversation === undefined
        ? await this.#readChain(target, request.previous_response_id, held)
        : await this.#readConversation(target, conversation, held);
    return { earlierItems, input: await this.#resolve(target, request.input, { earlierItems, held }) };
  }

  async #readChain(target: Target, id: string | undefined, held: DisposableStack): Promise<readonly JsonObject[]> {
    if (id === undefined) return [];
    const { caller } = target.call;
    if (!mayUseRecord(caller, id) || isChatRunId(id)) throw createPreviousNotFoundError(id, id);
    const nowMs = this.#deps.clock.epochMs();
    const param = 'previous_response_id';
    const chain = await this.#readBounded({ target, param, held }, (maxBytes) =>
      this.#deps.responses.findChain({ id, subject: caller.subject }, { nowMs, maxBytes }),
    );
    if ('missingId' in chain) throw createPreviousNotFoundError(id, chain.missingId);
    const last = chain.at(-1);
    if (last?.status === 'queued' || last?.status === 'in_progress')
      throw createRequestError(param, 'names a response that has not ended. Wait for its end, or cancel it');
    return chain.flatMap(listCarriedItems);
  }

  /** Locks a conversation for one run. Returns the unique name of the run. */
  async #lockConversation({ call, snapshot }: Target, id: string): Promise<string> {
    const { conversations, responses, lease, clock, newId } = this.#deps;
    const { subject } = call.caller;
    if (!mayUseRecord(call.caller, id)) throw createConversationNotFoundError(id);
    await lease.hold();
    const run = newId();
    try {
      const lock = await conversations.begin({ id, subject }, { run, node: lease.node }, clock.epochMs());
      if (lock === undefined) throw createConversationNotFoundError(id);
      if (lock === 'locked') throw createConversationLockedError(id);
      const { maxBytesPerUser } = snapshot.configuration.responses;
      if ((await responses.deleteOldest(subject, maxBytesPerUser)) > maxBytesPerUser)
        throw createStorageFullError(maxBytesPerUser);
      return run;
    } catch (error) {
      await this.#releaseConversation(id, run);
      throw error;
    }
  }

  /** Releases the lock of a conversation if no response starts, even if the outcome of the lock is unknown. Never fails. */
  async #releaseConversation(conversation: string, run: string): Promise<void> {
    const { conversations, lease, clock } = this.#deps;
    const release = (): Promise<void> => conversations.release(conversation, run);
    await release().then(
      () => lease.release(),
      () => void retryUntilStored(clock, release).finally(() => lease.release()),
    );
  }

  async #readConversation(target: Target, id: string, held: DisposableStack): Promise<readonly JsonObject[]> {
    const { caller } = target.call;
    if (!mayUseRecord(caller, id)) throw createConversationNotFoundError(id);
    const earlierItems = await this.#readBounded({ target, param: 'conversation', held }, (maxBytes) =>
      this.#deps.conversations.readAll({ id, subject: caller.subject }, maxBytes),
    );
    if (earlierItems === undefined) throw createConversationNotFoundError(id);
    return earlierItems;
  }

  /** Replaces references with their items. Omits items that the earlier turns already contain. */
  async #resolve(target: Target, input: readonly AnyItem[], { earlierItems, held }: EarlierItems): Promise<readonly AnyItem[]> {
    const { caller } = target.call;
    const referencedIds = input.filter((item) => item.type === 'item_reference').map((item) => String((item as JsonObject).id));
    if (referencedIds.length === 0) return input;
    const earlierIds = new Set(earlierItems.map(({ id }) => id));
    const missingIds = isBoundKey(caller) ? [] : referencedIds.filter((id) => !earlierIds.has(id));
    const itemsById = await this.#readBounded({ target, param: 'input', held }, (maxBytes) =>
      this.#deps.responses.findItems(caller.subject, missingIds, maxBytes),
    );
    return input.flatMap((item, index) => {
      if (item.type !== 'item_reference') return [item];
      if (earlierIds.has(item.id)) return [];
      const stored = itemsById.get(String(item.id));
      if (stored === undefined)
        throw createRequestError(`input[${index}].id`, 'names an item that is not stored. Send the item itself');
      return [stored as AnyItem];
    });
  }

  /**
   * Reads stored items with at most as many bytes as a body may have. Counts large ones in the input memory of the user, and
   * reads them one after another. Throws `context_length_exceeded` and `overloaded`.
   */
  async #readBounded<Items extends object | undefined>(
    { target, param, held }: BoundedRead,
    read: (maxBytes: number) => Promise<Items | Oversize>,
  ): Promise<Items> {
    const { caller } = target.call;
    const { maxBodyBytes } = target.snapshot.configuration.security;
    const readWithin = async (maxBytes: number): Promise<Items | Oversize> => read(Math.min(maxBytes, maxBodyBytes));
    const first = await readWithin(smallBytes);
    if (!isOversize(first)) return first;
    if (first.bytes <= maxBodyBytes) {
      held.defer(this.#deps.inputMemory.hold(caller, first.bytes));
      const second = await this.#largeReads.run(caller.subject, () => readWithin(first.bytes));
      if (!isOversize(second)) return second;
    }
    const message = `${param} names ${first.bytes} bytes of stored items, but at most ${maxBodyBytes} are allowed. Start a new conversation.`;
    throw new ParleyError('context_length_exceeded', message, { param });
  }
}

interface BoundedRead {
  readonly target: Target;
  /** Field of the request that names the items. */
  readonly param: string;
  readonly held: DisposableStack;
}

interface EarlierItems extends Pick<BoundedRead, 'held'> {
  readonly earlierItems: readonly JsonObject[];
}

export function createStorageFullError(maxBytes: number): ParleyError {
  return new ParleyError(
    'payload_too_large',
    `Your conversations use all of the ${maxBytes} bytes that you may store. Delete some of them.`,
  );
}

function getConversationId({ conversation }: ResponsesRequest): string | undefined {
  return typeof conversation === 'string' ? conversation : conversation?.id;
}

function shouldStoreResponse({ snapshot }: Target, { store }: ResponsesRequest): boolean {
  return store !== false && snapshot.configuration.responses.store === 'allow';
}

function requireBackground({ call, snapshot }: Target, isStored: boolean): void {
  if (snapshot.configuration.responses.store === 'never')
    throw createRequestError('background', 'must be false, because this service does not store responses');
  if (!isStored) throw createRequestError('background', 'requires that the response is stored. Omit store, or set it to true');
  if (call.caller.chain !== null)
    throw createRequestError('background', 'must be false with a per-request key, which ends with its call');
}

function createPreviousNotFoundError(id: string, missingId: string): ParleyError {
  const param = 'previous_response_id';
  const message =
    id === missingId
      ? `${param} does not name a stored response of yours: ${JSON.stringify(id.slice(0, 100))}.`
      : `${param} names a response that continues ${missingId}, which was deleted.`;
  return new ParleyError('previous_response_not_found', message, { param });
}

function createConversationNotFoundError(id: string): ParleyError {
  const message = `conversation does not name a stored conversation of yours: ${JSON.stringify(id.slice(0, 100))}.`;
  return new ParleyError('conversation_not_found', message, { param: 'conversation' });
}

function createConversationLockedError(id: string): ParleyError {
  const message = `Another response is in progress on ${id}. Try again when it has ended.`;
  return new ParleyError('conversation_locked', message, { param: 'conversation' });
}
