import type { JsonObject } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { Target } from '#domain/call.ts';
import { isBoundKey, mayUseRecord } from '#domain/callers/bound-key.ts';
import { isChatRunId } from '#domain/responses/chat-run.ts';
import { listCarriedItems } from '#domain/responses/stored-items.ts';
import { DatabaseResponse, type ResponseStorageDeps } from './database-response.ts';
import { notStored, type OpenedResponse, type ResponseStorage } from './response-storage.ts';
import { retryUntilStored } from './unconfirmed-writes.ts';

/** Items that a response continues. */
interface EarlierTurns {
  readonly earlierItems: readonly JsonObject[];
  /** Unique name of this run on its conversation. */
  readonly run?: string;
}

/** Stores responses and conversations in the database. */
export class DatabaseResponseStorage implements ResponseStorage {
  readonly #deps: ResponseStorageDeps;

  constructor(deps: ResponseStorageDeps) {
    this.#deps = deps;
  }

  async open(target: Target, request: ResponsesRequest): Promise<DatabaseResponse> {
    const isStored = isStoredBy(target, request);
    if (request.background === true) requireBackground(target, isStored);
    const conversation = getConversationId(request);
    const { earlierItems, run } =
      conversation === undefined ? await this.#readChain(target, request) : await this.#lockConversation(target, conversation);
    try {
      const input = await this.#resolve(target, request.input, earlierItems);
      const turn = conversation !== undefined && run !== undefined ? { conversation, run } : undefined;
      return new DatabaseResponse(this.#deps, { target, request, isStored, turn, earlierItems, input });
    } catch (error) {
      if (conversation !== undefined && run !== undefined) await this.#releaseConversation(conversation, run);
      throw error;
    }
  }

  openChatRun(target: Target): DatabaseResponse {
    const noInput = { turn: undefined, earlierItems: [], input: [] };
    return new DatabaseResponse(this.#deps, { ...noInput, target, request: {}, isStored: true, isChatRun: true });
  }

  async openUnlocked(target: Target, request: ResponsesRequest): Promise<OpenedResponse> {
    const conversation = getConversationId(request);
    const { earlierItems } =
      conversation === undefined ? await this.#readChain(target, request) : await this.#readConversation(target, conversation);
    const input = await this.#resolve(target, request.input, earlierItems);
    return { ...notStored, earlierItems: earlierItems as AnyItem[], input };
  }

  async #readChain({ call, snapshot }: Target, { previous_response_id: id }: ResponsesRequest): Promise<EarlierTurns> {
    if (id === undefined) return { earlierItems: [] };
    if (!mayUseRecord(call.caller, id) || isChatRunId(id)) throw createPreviousNotFoundError(id, id);
    const { maxBodyBytes: maxBytes } = snapshot.configuration.security;
    const nowMs = this.#deps.clock.epochMs();
    const chain = await this.#deps.responses.findChain({ id, subject: call.caller.subject }, { nowMs, maxBytes });
    if ('missingId' in chain) throw createPreviousNotFoundError(id, chain.missingId);
    const param = 'previous_response_id';
    if ('bytes' in chain) {
      const message = `${param} names a conversation of ${chain.bytes} bytes, but at most ${maxBytes} are allowed. Start another one.`;
      throw new ParleyError('context_length_exceeded', message, { param });
    }
    const last = chain.at(-1);
    if (last?.status === 'queued' || last?.status === 'in_progress')
      throw createRequestError(param, 'names a response that has not ended. Wait for its end, or cancel it');
    return { earlierItems: chain.flatMap(listCarriedItems) };
  }

  /** Locks the conversation for this run. */
  async #lockConversation({ call, snapshot }: Target, id: string): Promise<EarlierTurns> {
    const { conversations, responses, lease, clock, newId } = this.#deps;
    const { subject } = call.caller;
    if (!mayUseRecord(call.caller, id)) throw createConversationNotFoundError(id);
    await lease.hold();
    const run = newId();
    try {
      const earlier = await conversations.begin({ id, subject }, { run, node: lease.node }, clock.epochMs());
      if (earlier === undefined) throw createConversationNotFoundError(id);
      if (earlier === 'locked') throw createConversationLockedError(id);
      const { maxBytesPerUser } = snapshot.configuration.responses;
      if ((await responses.deleteOldest(subject, maxBytesPerUser)) > maxBytesPerUser)
        throw createStorageFullError(maxBytesPerUser);
      return { earlierItems: earlier, run };
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

  async #readConversation({ call }: Target, id: string): Promise<EarlierTurns> {
    if (!mayUseRecord(call.caller, id)) throw createConversationNotFoundError(id);
    const earlier = await this.#deps.conversations.readAll({ id, subject: call.caller.subject });
    if (earlier === undefined) throw createConversationNotFoundError(id);
    return { earlierItems: earlier };
  }

  /** Replaces references by their items. Omits items that the earlier turns already contain. */
  async #resolve({ call }: Target, input: readonly AnyItem[], earlier: readonly JsonObject[]): Promise<readonly AnyItem[]> {
    const referencedIds = input.filter((item) => item.type === 'item_reference').map((item) => String((item as JsonObject).id));
    if (referencedIds.length === 0) return input;
    const earlierIds = new Set(earlier.map(({ id }) => id));
    const missingIds = isBoundKey(call.caller) ? [] : referencedIds.filter((id) => !earlierIds.has(id));
    const itemsById = await this.#deps.responses.findItems(call.caller.subject, missingIds);
    return input.flatMap((item, index) => {
      if (item.type !== 'item_reference') return [item];
      if (earlierIds.has(item.id)) return [];
      const stored = itemsById.get(String(item.id));
      if (stored === undefined)
        throw createRequestError(`input[${index}].id`, 'names an item that is not stored. Send the item itself');
      return [stored as AnyItem];
    });
  }
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

function isStoredBy({ snapshot }: Target, { store }: ResponsesRequest): boolean {
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
