import type { JsonObject } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { requestFault } from '#contract/errors/request-error.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { Target } from '#domain/call.ts';
import { isBoundKey, mayUseRecord } from '#domain/callers/bound-key.ts';
import { carriedItemsOf } from '#domain/responses/stored-items.ts';
import { keptNowhere, type OpenedResponse, type ResponseKeeper } from './response-keeper.ts';
import { type KeeperDeps, StoredOpening } from './stored-opening.ts';
import { untilStored } from './unconfirmed-writes.ts';

/** What a response goes on from. */
interface Before {
  readonly earlier: readonly JsonObject[];
  /** The name of this run on its conversation, which is this run's alone. */
  readonly run?: string;
}

/** Keeps responses and conversations in the store. */
export class StoredKeeper implements ResponseKeeper {
  readonly #deps: KeeperDeps;

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
  }

  async open(target: Target, request: ResponsesRequest): Promise<StoredOpening> {
    const isStored = isStoredBy(target, request);
    if (request.background === true) requireBackground(target, isStored);
    const conversation = conversationOf(request);
    const before = conversation === undefined ? await this.#goOn(target, request) : await this.#enter(target, conversation);
    try {
      const input = await this.#resolve(target, request.input, before.earlier);
      const turn = conversation !== undefined && before.run !== undefined ? { conversation, run: before.run } : undefined;
      return new StoredOpening(this.#deps, { target, request, isStored, turn, earlier: before.earlier, input });
    } catch (thrown) {
      if (conversation !== undefined && before.run !== undefined) await this.#leave(conversation, before.run);
      throw thrown;
    }
  }

  async look(target: Target, request: ResponsesRequest): Promise<OpenedResponse> {
    const conversation = conversationOf(request);
    const { earlier } = conversation === undefined ? await this.#goOn(target, request) : await this.#read(target, conversation);
    return { ...keptNowhere, earlier: earlier as AnyItem[], input: await this.#resolve(target, request.input, earlier) };
  }

  async #goOn({ call, snapshot }: Target, { previous_response_id: id }: ResponsesRequest): Promise<Before> {
    if (id === undefined) return { earlier: [] };
    if (!mayUseRecord(call.caller, id)) throw notGoneOnFrom(id, id);
    const { maxBodyBytes: maxBytes } = snapshot.configuration.security;
    const nowMs = this.#deps.clock.epochMs();
    const chain = await this.#deps.responses.chain({ id, subject: call.caller.subject }, { nowMs, maxBytes });
    if ('absent' in chain) throw notGoneOnFrom(id, chain.absent);
    const param = 'previous_response_id';
    if ('bytes' in chain) {
      const claim = `${param} names a conversation of ${chain.bytes} bytes, of which ${maxBytes} are allowed; begin another one.`;
      throw new ParleyError('context_length_exceeded', claim, { param });
    }
    const last = chain.at(-1);
    if (last?.status === 'queued' || last?.status === 'in_progress')
      throw requestFault(param, 'names a response that has not ended; wait for its end, or cancel it');
    return { earlier: chain.flatMap(carriedItemsOf) };
  }

  /** Makes the conversation this run's alone. */
  async #enter({ call, snapshot }: Target, id: string): Promise<Before> {
    const { conversations, responses, life, clock, newId } = this.#deps;
    const { subject } = call.caller;
    if (!mayUseRecord(call.caller, id)) throw noConversation(id);
    await life.hold();
    const run = newId();
    try {
      const earlier = await conversations.begin({ id, subject }, { run, node: life.node }, clock.epochMs());
      if (earlier === undefined) throw noConversation(id);
      if (earlier === 'locked') throw lockedConversation(id);
      const { maxBytesPerUser } = snapshot.configuration.responses;
      if ((await responses.keepWithin(subject, maxBytesPerUser)) > maxBytesPerUser) throw conversationsFull(maxBytesPerUser);
      return { earlier, run };
    } catch (thrown) {
      await this.#leave(id, run);
      throw thrown;
    }
  }

  /** Lets others run on a conversation that nothing was answered on, also if the store was not heard when it was taken. Never fails. */
  async #leave(conversation: string, run: string): Promise<void> {
    const { conversations, life, clock } = this.#deps;
    const release = (): Promise<void> => conversations.release(conversation, run);
    await release().then(
      () => life.release(),
      () => void untilStored(clock, release).finally(() => life.release()),
    );
  }

  async #read({ call }: Target, id: string): Promise<Before> {
    if (!mayUseRecord(call.caller, id)) throw noConversation(id);
    const earlier = await this.#deps.conversations.all({ id, subject: call.caller.subject });
    if (earlier === undefined) throw noConversation(id);
    return { earlier };
  }

  /** References become the items they name; what is there already is not said twice. */
  async #resolve({ call }: Target, input: readonly AnyItem[], earlier: readonly JsonObject[]): Promise<readonly AnyItem[]> {
    const named = input.filter((item) => item.type === 'item_reference').map((item) => String((item as JsonObject).id));
    if (named.length === 0) return input;
    const there = new Set(earlier.map(({ id }) => id));
    const elsewhere = isBoundKey(call.caller) ? [] : named.filter((id) => !there.has(id));
    const found = await this.#deps.responses.findItems(call.caller.subject, elsewhere);
    return input.flatMap((item, index) => {
      if (item.type !== 'item_reference') return [item];
      if (there.has(item.id)) return [];
      const stored = found.get(String(item.id));
      if (stored === undefined)
        throw requestFault(`input[${index}].id`, 'names an item that is not stored; send the item itself');
      return [stored as AnyItem];
    });
  }
}

export function conversationsFull(maxBytes: number): ParleyError {
  return new ParleyError(
    'payload_too_large',
    `Your conversations take all of the ${maxBytes} bytes that may be stored for you; delete some of them.`,
  );
}

function conversationOf({ conversation }: ResponsesRequest): string | undefined {
  return typeof conversation === 'string' ? conversation : conversation?.id;
}

function isStoredBy({ snapshot }: Target, { store }: ResponsesRequest): boolean {
  return store !== false && snapshot.configuration.responses.store === 'allow';
}

function requireBackground({ call, snapshot }: Target, isStored: boolean): void {
  if (snapshot.configuration.responses.store === 'never')
    throw requestFault('background', 'must be false: no response is stored here');
  if (!isStored) throw requestFault('background', 'needs the response to be stored; leave store out, or send true');
  if (call.caller.chain !== null)
    throw requestFault('background', 'must be false with a per-request key, which ends with its call');
}

function notGoneOnFrom(id: string, absent: string): ParleyError {
  const param = 'previous_response_id';
  const claim =
    id === absent
      ? `${param} names no stored response of yours: ${JSON.stringify(id.slice(0, 100))}.`
      : `${param} names a response that goes on from ${absent}, which was deleted.`;
  return new ParleyError('previous_response_not_found', claim, { param });
}

function noConversation(id: string): ParleyError {
  const claim = `conversation names none that is stored for you: ${JSON.stringify(id.slice(0, 100))}.`;
  return new ParleyError('conversation_not_found', claim, { param: 'conversation' });
}

function lockedConversation(id: string): ParleyError {
  const claim = `Another response is being answered on ${id}; try again when it has ended.`;
  return new ParleyError('conversation_locked', claim, { param: 'conversation' });
}
