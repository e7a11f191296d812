import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { Target } from '#domain/call.ts';
import type { ConversationStore } from '#domain/responses/conversation-store.ts';
import type {
  ConversationTurn,
  EndedResponse,
  EventRun,
  ResponseStore,
  StoredResponse,
} from '#domain/responses/response-store.ts';
import { isStoredForm, toStoredItem } from '#domain/responses/stored-items.ts';
import type { NodeLife } from '../node/node-lease.ts';
import type { KeptResponse, OpenedResponse } from './response-keeper.ts';
import { type UnconfirmedWrites, untilStored } from './unconfirmed-writes.ts';

export interface KeeperDeps {
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  readonly life: NodeLife;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Called with faults that callers do not see. */
  readonly noteFault: (message: string, thrown: unknown) => void;
  /** Responses that callers may know of and the store may not, by their ids: each resolves once it does. */
  readonly beginning: Map<string, Promise<unknown>>;
  readonly unconfirmed: UnconfirmedWrites;
}

const dayMs = 86_400_000;

interface Opening {
  readonly target: Target;
  readonly request: ResponsesRequest;
  readonly isStored: boolean;
  readonly turn: Omit<ConversationTurn, 'items'> | undefined;
  readonly earlier: readonly JsonObject[];
  readonly input: readonly AnyItem[];
}

/** A response that begins, and is kept when it ends. One that can be told of before its end is kept from its beginning. */
export class StoredOpening implements OpenedResponse {
  readonly earlier: readonly AnyItem[];
  readonly input: readonly AnyItem[];
  readonly isStored: boolean;
  readonly #deps: KeeperDeps;
  readonly #opening: Opening;
  #input: readonly JsonObject[] | undefined;
  /** Resolves with whether the store has it. */
  #begun: Promise<boolean> | undefined;
  #isHeld: boolean;

  constructor(deps: KeeperDeps, opening: Opening) {
    this.#deps = deps;
    this.#opening = opening;
    this.earlier = opening.earlier as AnyItem[];
    this.input = opening.input;
    this.isStored = opening.isStored;
    this.#isHeld = opening.turn !== undefined;
  }

  get conversation(): { readonly id: string } | undefined {
    const { turn } = this.#opening;
    return turn && { id: turn.conversation };
  }

  /** Nobody knows of a response in one JSON text before it ends, unless others have to be told of its conversation. */
  began(response: ResponseObject): void {
    const { request, turn } = this.#opening;
    if (!this.isStored || (request.stream !== true && turn === undefined)) return;
    const { beginning } = this.#deps;
    this.#begun = this.#begin(response).finally(() => beginning.delete(response.id));
    beginning.set(response.id, this.#begun);
  }

  /** Keeps a run that another node may have to answer, as `run` tells. Throws StoreFault. */
  async queue(response: ResponseObject, run: JsonObject): Promise<void> {
    await this.#hold();
    await this.#write(this.#toStored({ response, items: [] }), (stored) =>
      this.#deps.responses.begin({ ...stored, node: this.#deps.life.node }, run),
    );
    this.#begun = Promise.resolve(true);
  }

  /** The row is there already: this node was given it. */
  async resume(): Promise<void> {
    await this.#hold();
    this.#begun = Promise.resolve(true);
  }

  ended(kept: KeptResponse | undefined, events?: EventRun): Promise<boolean> | undefined {
    if (kept !== undefined && this.isStored) return this.#keep(kept, events).finally(() => this.#letGo());
    if (this.#opening.turn === undefined) {
      this.#letGo();
      return undefined;
    }
    return this.#release()
      .finally(() => this.#letGo())
      .then(() => false);
  }

  async #keep(kept: KeptResponse, events: EventRun | undefined): Promise<boolean> {
    const { responses, noteFault } = this.#deps;
    const { target, turn } = this.#opening;
    const stored = this.#toStored(kept);
    const { maxBytesPerUser } = target.snapshot.configuration.responses;
    try {
      if (this.#begun === undefined) await this.#write(stored, (added) => responses.add(added));
      else if (!(await this.#begun)) {
        await this.#release();
        return false;
      } else {
        const items = [...stored.input, ...this.#toItems(kept)];
        const isKept = await this.#end({ response: stored, turn: turn && { ...turn, items }, events });
        if (!isKept) return false;
      }
    } catch (thrown) {
      noteFault('a response could not be stored', thrown);
      return false;
    }
    void this.#makeRoom(stored.subject, maxBytesPerUser);
    return true;
  }

  /** Behind the last bytes, which wait for the response to be kept and not for this. Never fails. */
  async #makeRoom(subject: string, maxBytes: number): Promise<void> {
    const { responses, noteFault } = this.#deps;
    await nextTurn();
    await nextTurn();
    await responses
      .keepWithin(subject, maxBytes)
      .catch((thrown) => noteFault('no room could be made for responses of a user', thrown));
  }

  /** What began must not stay for ever as if it went on: what the store does not take now it is given again, while nobody waits. */
  async #end(ended: EndedResponse): Promise<boolean> {
    const { responses, life, clock } = this.#deps;
    const end = (): Promise<boolean> => responses.end(ended, life.node);
    try {
      return await end();
    } catch (thrown) {
      const again = untilStored(clock, end);
      if (ended.response.isBackground) return (await again)?.value ?? false;
      this.#letGoAfter(again);
      throw thrown;
    }
  }

  /** Lets others run on the conversation; what the store does not take now it is given again, while nobody waits. Never fails. */
  async #release(): Promise<void> {
    const { conversations, clock } = this.#deps;
    const { turn } = this.#opening;
    if (turn === undefined) return;
    const release = (): Promise<void> => conversations.release(turn.conversation, turn.run);
    await release().catch(() => this.#letGoAfter(untilStored(clock, release)));
  }

  /** After the first bytes: they are written in the first turn, and nobody knows of the response before. */
  async #begin(response: ResponseObject): Promise<boolean> {
    await nextTurn();
    await nextTurn();
    try {
      await this.#hold();
      await this.#write(this.#toStored({ response, items: [] }), (stored) =>
        this.#deps.responses.begin({ ...stored, node: this.#deps.life.node }),
      );
      return true;
    } catch (thrown) {
      this.#deps.noteFault('a response that begins could not be stored', thrown);
      return false;
    }
  }

  /** What is told not to be kept must not be, though the store may have taken it and not have been heard. */
  async #write(stored: StoredResponse, write: (stored: StoredResponse) => Promise<void>): Promise<void> {
    try {
      await write(stored);
    } catch (thrown) {
      this.#deps.unconfirmed.note(stored);
      throw thrown;
    }
  }

  #toStored(kept: KeptResponse): StoredResponse {
    const { target, request } = this.#opening;
    const { response } = kept;
    const { retentionDays } = target.snapshot.configuration.responses;
    const createdAtMs = response.created_at * 1000;
    const { output } = response;
    const isShown =
      kept.items.length === output.length && kept.items.every((item, at) => item === output[at] && isStoredForm(item));
    this.#input ??= this.input.map((item) => toStoredItem(item as JsonObject, this.#deps.newId));
    return {
      ...{ id: response.id, subject: target.call.caller.subject, status: response.status, isBackground: response.background },
      ...{ previousId: request.previous_response_id, createdAtMs, expiresAtMs: createdAtMs + retentionDays * dayMs },
      ...{ response, input: this.#input, ...(!isShown && { items: this.#toItems(kept) }) },
    };
  }

  #toItems({ items }: KeptResponse): readonly JsonObject[] {
    return items.map((item) => toStoredItem(item as JsonObject, this.#deps.newId));
  }

  async #hold(): Promise<void> {
    if (this.#isHeld) return;
    await this.#deps.life.hold();
    this.#isHeld = true;
  }

  /** This node lives on until then, whoever else lets go. */
  #letGoAfter(written: Promise<unknown>): void {
    const wasHeld = this.#isHeld;
    this.#isHeld = false;
    void written.finally(() => wasHeld && this.#deps.life.release());
  }

  #letGo(): void {
    if (this.#isHeld) this.#deps.life.release();
    this.#isHeld = false;
  }
}
