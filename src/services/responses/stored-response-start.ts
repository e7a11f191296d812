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
import type { NodeLease } from '../node/node-lease.ts';
import type { OpenedResponse, ResponseResult } from './response-storage.ts';
import { retryUntilStored, type UnconfirmedWrites } from './unconfirmed-writes.ts';

export interface ResponseStorageDeps {
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  readonly lease: NodeLease;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Called with faults that callers do not see. */
  readonly reportError: (message: string, error: unknown) => void;
  /** Responses that callers may know of and the store may not, by their ids: each resolves once it does. */
  readonly startingWrites: Map<string, Promise<unknown>>;
  readonly unconfirmed: UnconfirmedWrites;
}

const dayMs = 86_400_000;

interface ResponseStartOptions {
  readonly target: Target;
  readonly request: ResponsesRequest;
  readonly isStored: boolean;
  readonly turn: Omit<ConversationTurn, 'items'> | undefined;
  readonly earlier: readonly JsonObject[];
  readonly input: readonly AnyItem[];
}

/** A response that begins, and is kept when it ends. One that can be told of before its end is kept from its beginning. */
export class StoredResponseStart implements OpenedResponse {
  readonly earlier: readonly AnyItem[];
  readonly input: readonly AnyItem[];
  readonly isStored: boolean;
  readonly #deps: ResponseStorageDeps;
  readonly #options: ResponseStartOptions;
  #input: readonly JsonObject[] | undefined;
  /** Resolves with whether the store has it. */
  #startWrite: Promise<boolean> | undefined;
  #holdsLease: boolean;

  constructor(deps: ResponseStorageDeps, options: ResponseStartOptions) {
    this.#deps = deps;
    this.#options = options;
    this.earlier = options.earlier as AnyItem[];
    this.input = options.input;
    this.isStored = options.isStored;
    this.#holdsLease = options.turn !== undefined;
  }

  get conversation(): { readonly id: string } | undefined {
    const { turn } = this.#options;
    return turn && { id: turn.conversation };
  }

  /** Nobody knows of a response in one JSON text before it ends, unless others have to be told of its conversation. */
  onStarted(response: ResponseObject): void {
    const { request, turn } = this.#options;
    if (!this.isStored || (request.stream !== true && turn === undefined)) return;
    const { startingWrites } = this.#deps;
    this.#startWrite = this.#begin(response).finally(() => startingWrites.delete(response.id));
    startingWrites.set(response.id, this.#startWrite);
  }

  /** Keeps a run that another node may have to answer, as `run` tells. Throws StoreFault. */
  async queue(response: ResponseObject, run: JsonObject): Promise<void> {
    await this.#holdLease();
    await this.#write(this.#toStored({ response, items: [] }), (stored) =>
      this.#deps.responses.begin({ ...stored, node: this.#deps.lease.node }, run),
    );
    this.#startWrite = Promise.resolve(true);
  }

  /** The row is there already: this node was given it. */
  async resume(): Promise<void> {
    await this.#holdLease();
    this.#startWrite = Promise.resolve(true);
  }

  onEnded(result: ResponseResult | undefined, events?: EventRun): Promise<boolean> | undefined {
    if (result !== undefined && this.isStored) return this.#store(result, events).finally(() => this.#releaseLease());
    if (this.#options.turn === undefined) {
      this.#releaseLease();
      return undefined;
    }
    return this.#release()
      .finally(() => this.#releaseLease())
      .then(() => false);
  }

  async #store(result: ResponseResult, events: EventRun | undefined): Promise<boolean> {
    const { responses, reportError } = this.#deps;
    const { target, turn } = this.#options;
    const stored = this.#toStored(result);
    const { maxBytesPerUser } = target.snapshot.configuration.responses;
    try {
      if (this.#startWrite === undefined) await this.#write(stored, (added) => responses.add(added));
      else if (!(await this.#startWrite)) {
        await this.#release();
        return false;
      } else {
        const items = [...stored.input, ...this.#toItems(result)];
        const isStored = await this.#end({ response: stored, turn: turn && { ...turn, items }, events });
        if (!isStored) return false;
      }
    } catch (error) {
      reportError('a response could not be stored', error);
      return false;
    }
    void this.#freeSpace(stored.subject, maxBytesPerUser);
    return true;
  }

  /** Behind the last bytes, which wait for the response to be kept and not for this. Never fails. */
  async #freeSpace(subject: string, maxBytes: number): Promise<void> {
    const { responses, reportError } = this.#deps;
    await nextTurn();
    await nextTurn();
    await responses
      .deleteBeyond(subject, maxBytes)
      .catch((error) => reportError('no room could be made for responses of a user', error));
  }

  /** What began must not stay for ever as if it went on: what the store does not take now it is given again, while nobody waits. */
  async #end(ended: EndedResponse): Promise<boolean> {
    const { responses, lease, clock } = this.#deps;
    const end = (): Promise<boolean> => responses.end(ended, lease.node);
    try {
      return await end();
    } catch (error) {
      const retry = retryUntilStored(clock, end);
      if (ended.response.isBackground) return (await retry)?.value ?? false;
      this.#releaseLeaseAfter(retry);
      throw error;
    }
  }

  /** Lets others run on the conversation; what the store does not take now it is given again, while nobody waits. Never fails. */
  async #release(): Promise<void> {
    const { conversations, clock } = this.#deps;
    const { turn } = this.#options;
    if (turn === undefined) return;
    const release = (): Promise<void> => conversations.release(turn.conversation, turn.run);
    await release().catch(() => this.#releaseLeaseAfter(retryUntilStored(clock, release)));
  }

  /** After the first bytes: they are written in the first turn, and nobody knows of the response before. */
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
      this.#deps.reportError('a response that begins could not be stored', error);
      return false;
    }
  }

  /** What is told not to be kept must not be, though the store may have taken it and not have been heard. */
  async #write(stored: StoredResponse, write: (stored: StoredResponse) => Promise<void>): Promise<void> {
    try {
      await write(stored);
    } catch (error) {
      this.#deps.unconfirmed.add(stored);
      throw error;
    }
  }

  #toStored(result: ResponseResult): StoredResponse {
    const { target, request } = this.#options;
    const { response } = result;
    const { retentionDays } = target.snapshot.configuration.responses;
    const createdAtMs = response.created_at * 1000;
    const { output } = response;
    const isOutputComplete =
      result.items.length === output.length && result.items.every((item, at) => item === output[at] && isStoredForm(item));
    this.#input ??= this.input.map((item) => toStoredItem(item as JsonObject, this.#deps.newId));
    return {
      ...{ id: response.id, subject: target.call.caller.subject, status: response.status, isBackground: response.background },
      ...{ previousId: request.previous_response_id, createdAtMs, expiresAtMs: createdAtMs + retentionDays * dayMs },
      ...{ response, input: this.#input, ...(!isOutputComplete && { items: this.#toItems(result) }) },
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

  /** This node lives on until then, whoever else lets go. */
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
