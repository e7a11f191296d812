import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import { type ParleyError, toParleyError } from '#contract/errors/errors.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import { parseResponsesRequest, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { Answer, Calls, ChatAsk, Target } from '#domain/call.ts';
import type { QueuedRun, ResponsePlace, ResponseStore } from '#domain/responses/response-store.ts';
import { type CallRecord, type Telemetry, toCallOutcome } from '#domain/telemetry.ts';
import { addUp } from '#domain/usage/usage.ts';
import type { InFlightCalls } from '../node/in-flight-calls.ts';
import type { NodeLife } from '../node/node-lease.ts';
import { BackgroundRun, type ResponseTranslation } from './background-run.ts';
import { failedResponse, fromQueued, toQueued } from './queued-run.ts';
import type { KeptResponse, OpenedResponse } from './response-keeper.ts';
import type { StoredKeeper } from './stored-keeper.ts';
import type { StoredOpening } from './stored-opening.ts';
import { untilStored } from './unconfirmed-writes.ts';

/** A request of the Responses API, with the conversation that it continues. */
export interface ResponseStart {
  readonly request: ResponsesRequest;
  /** The body as the client sent it. */
  readonly body: JsonObject;
  readonly opened: OpenedResponse;
  /** The response that was promised before. Absent for a new one. */
  readonly known?: { readonly id: string; readonly createdAtSeconds: number };
}

/** A translated request. */
export interface PreparedResponse {
  readonly run: ResponseTranslation;
  readonly ask: ChatAsk;
  /** Returns the names of the fields that the upstream does not receive. */
  readonly ignored: () => readonly string[];
}

/** Translates a request. The surface implements it. Throws the 400 of the request. */
export type PrepareResponse = (target: Target, start: ResponseStart) => PreparedResponse;

export interface BackgroundDeps {
  readonly calls: Calls;
  readonly prepare: PrepareResponse;
  readonly newId: () => string;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly keeper: StoredKeeper;
  readonly responses: ResponseStore;
  readonly life: NodeLife;
  readonly inFlightCalls: InFlightCalls;
  /** Longest duration of a run, and so of the per-request keys of its applications. Absent: six hours. */
  readonly maxRunMs?: number;
}

/** A request whose response is to be made in the background. */
interface Asked {
  readonly target: Target;
  readonly request: ResponsesRequest;
  /** The body as it came: another node may have to read it again. */
  readonly value: unknown;
}

/** A response that waits to be answered. */
interface Queued {
  readonly response: ResponseObject;
  /** Names of fields that the translation left out. */
  readonly ignored: readonly string[];
}

/** What a run begins with. */
interface Beginning extends Asked {
  readonly opening: StoredOpening;
  readonly known?: { readonly id: string; readonly createdAtSeconds: number };
}

const maxRuns = 2_000;
const defaultMaxRunMs = 6 * 60 * 60 * 1000;

/** The responses that this node makes in the background. */
export class BackgroundRuns {
  readonly #deps: BackgroundDeps;
  readonly #running = new Map<string, BackgroundRun>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
  }

  /** How many more this node takes. */
  get room(): number {
    return this.#deps.inFlightCalls.isClosed ? 0 : Math.max(0, maxRuns - this.#running.size);
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.#running.keys());
  }

  /** Resolves with the response that waits, once it is within its limits and kept; it goes on from there. Throws what refuses it. */
  async create({ target, request, value }: Asked): Promise<Queued> {
    const { keeper } = this.#deps;
    const opening = await keeper.open(target, request);
    const queued = Promise.withResolvers<Queued>();
    const keep = async ({ run, ignored }: PreparedResponse): Promise<void> => {
      const response = { ...run.response };
      await opening.queue(response, toQueued(target, value));
      queued.resolve({ response, ignored: ignored() });
    };
    this.#start({ target, request, value, opening }, keep, queued.reject);
    return queued.promise;
  }

  /** Answers a run that waits, unless another node does. */
  async take(place: ResponsePlace): Promise<void> {
    const { life, responses, clock } = this.#deps;
    if (this.#running.has(place.id)) return;
    await life.hold();
    const putBack = (): Promise<void> => responses.runs.release(place, life.node);
    try {
      const claimed = await responses.runs.claim(place, life.node, clock.epochMs());
      if (claimed !== undefined) await this.#resume(claimed);
    } catch (thrown) {
      // Nobody else takes what a living node has: it would wait for ever.
      void putBack().catch(() => untilStored(clock, putBack));
      throw thrown;
    } finally {
      life.release();
    }
  }

  /** Cancels a run of this node; resolves once that is kept. */
  async cancel(id: string): Promise<void> {
    await this.#running.get(id)?.stop();
  }

  /** Gives up a run of this node that was deleted, or ended by another. */
  drop(id: string): void {
    this.#running.get(id)?.drop();
  }

  /** Resolves when a run of this node has more to read, or after a while. */
  changed(id: string, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const hearers = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, hearers);
      const wake = (): void => {
        clearTimeout(timer);
        hearers.delete(wake);
        if (hearers.size === 0 && this.#waiting.get(id) === hearers) this.#waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      hearers.add(wake);
    });
  }

  async #resume({ run: queued, ...place }: QueuedRun): Promise<void> {
    const { calls, keeper, responses, life, clock, newId } = this.#deps;
    const stored = await responses.find(place, clock.epochMs());
    if (stored === undefined) return;
    try {
      const { value, caller, deployment } = fromQueued(queued);
      const id = newId();
      const target = await calls.authorize({ id, deployment, caller, record: this.#record(id, caller, deployment) }, 'chat');
      const request = parseResponsesRequest(value);
      const opening = await keeper.open(target, request);
      await opening.resume().catch(async (thrown) => {
        await opening.ended(undefined);
        throw thrown;
      });
      const known = { id: place.id, createdAtSeconds: Math.floor(stored.createdAtMs / 1000) };
      const refused = Promise.withResolvers<void>();
      this.#start({ target, request, value, opening, known }, async () => refused.resolve(), refused.reject);
      await refused.promise;
    } catch (thrown) {
      const ended = failedResponse(stored, { code: 'server_error', message: toParleyError(thrown).message }, 0);
      await responses.end(ended, life.node);
    }
  }

  /** `keep` makes it known once it is within its limits; `refuse` is told why it never was. */
  #start(
    { target: asked, request, value, opening, known }: Beginning,
    keep: (ready: PreparedResponse) => Promise<void>,
    refuse: (error: unknown) => void,
  ): void {
    const { calls, prepare, responses, life, maxRunMs = defaultMaxRunMs } = this.#deps;
    const { id, caller, deployment } = asked.call;
    const record = this.#record(id, caller, deployment);
    const target: Target = { ...asked, call: { ...asked.call, record } };
    let kept: KeptResponse | undefined;
    try {
      const opened: OpenedResponse = {
        ...{ earlier: opening.earlier, input: opening.input, isStored: true, conversation: opening.conversation },
        began: () => undefined,
        ended(given) {
          kept = given;
          return undefined;
        },
      };
      const ready = prepare(target, { request, body: value as JsonObject, opened, ...(known && { known }) });
      const { run, ask } = ready;
      const place = { id: run.response.id, subject: caller.subject };
      let answer: Answer | undefined;
      const background = new BackgroundRun({
        ...{ place, node: life.node, caller, run, opening, kept: () => kept, runs: responses.runs },
        onChange: () => this.#tell(place.id),
        onOver: (error) => this.#over(place.id, { background, record, answer, error }),
      });
      let isAdmitted = false;
      const admitted = async (): Promise<void> => {
        await keep(ready);
        isAdmitted = true;
        this.#running.set(place.id, background);
        this.#deps.inFlightCalls.add(background);
        background.endAfter(maxRunMs);
        if (!(await responses.runs.start(place, life.node))) background.drop();
      };
      const fail = (thrown: unknown): void => {
        if (isAdmitted) return background.fail(thrown);
        void refuseOpened(opening, record, this.#deps.clock).then(() => refuse(thrown));
      };
      answer = calls.answer(
        target,
        { ...ask, admitted },
        { frame: (frame) => background.frame(frame), end: () => background.end(), fail },
      );
      background.follow(answer);
    } catch (thrown) {
      void refuseOpened(opening, record, this.#deps.clock).then(() => refuse(thrown));
    }
  }

  #over(
    id: string,
    {
      background,
      record,
      answer,
      error,
    }: { background: BackgroundRun; record: CallRecord; answer: Answer | undefined; error: ParleyError | undefined },
  ): void {
    if (this.#running.get(id) === background) this.#running.delete(id);
    const { prompt_tokens, completion_tokens } = addUp(answer?.used() ?? []);
    record.end({
      ...{ outcome: toCallOutcome(error), status: error?.status ?? 200, error },
      ...{ promptTokens: prompt_tokens, completionTokens: completion_tokens, atMs: this.#deps.clock.nowMs() },
    });
    this.#deps.inFlightCalls.delete(background);
  }

  #tell(id: string): void {
    for (const wake of [...(this.#waiting.get(id) ?? [])]) wake();
  }

  /** A run is a call of its own: the one that asked for it has ended long before. */
  #record(requestId: string, caller: Target['call']['caller'], deployment: string): CallRecord {
    const { telemetry, clock } = this.#deps;
    const none = { traceparent: undefined, tracestate: undefined };
    const record = telemetry.begin({ operation: 'chat', route: undefined, requestId, ...none, atMs: clock.nowMs() });
    record.caller = caller;
    record.deployment(deployment);
    return record;
  }
}

/** Lets go of what was opened for a run that never began. Never fails. */
async function refuseOpened(opening: StoredOpening, record: CallRecord, clock: Clock): Promise<void> {
  await opening.ended(undefined);
  const none = { error: undefined, promptTokens: 0, completionTokens: 0 };
  record.end({ outcome: 'refused', status: 400, ...none, atMs: clock.nowMs() });
}
