import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import { ParleyError, toParleyError } from '#contract/errors/errors.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import { parseResponsesRequest, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { Answer, Calls, ChatInput, Target } from '#domain/calls/call.ts';
import type { CallRecord, Telemetry } from '#domain/calls/telemetry.ts';
import type { QueuedRun, ResponseRef, ResponseStore } from '#domain/responses/response-store.ts';
import type { InFlightCalls } from '../node/in-flight-calls.ts';
import type { NodeLease } from '../node/node-lease.ts';
import { BackgroundRun, type BackgroundRunDeps, type RunTranslation } from './background-run.ts';
import { ChatRunTranslation } from './chat-run-translation.ts';
import type { DatabaseResponse } from './database-response.ts';
import type { DatabaseResponseStorage } from './database-response-storage.ts';
import { parseQueuedRun, serializeQueuedRun, toFailedResponse } from './queued-run.ts';
import { type OpenedResponse, unstoredFields } from './response-storage.ts';
import { retryUntilStored } from './unconfirmed-writes.ts';

/** A request of the Responses API, with the items that it continues. */
export interface ResponseStart {
  readonly request: ResponsesRequest;
  /** Body as the client sent it. */
  readonly body: JsonObject;
  readonly opened: OpenedResponse;
  /** ID and creation time of a response that the client already received. Undefined for a new one. */
  readonly existing?: { readonly id: string; readonly createdAtSeconds: number };
}

/** Translates the frames of one reply to the events of a response. */
interface ResponseTranslation extends RunTranslation {
  /** The response so far. Complete after its last event. */
  readonly response: ResponseObject;
}

/** A translated request. */
export interface PreparedResponse {
  readonly translation: ResponseTranslation;
  readonly input: ChatInput;
  /** Returns the names of the fields that the upstream does not receive. */
  readonly listIgnoredFields: () => readonly string[];
}

/** Translates a request. The surface implements it. Throws an error with status 400 if the request is invalid. */
export type PrepareResponse = (target: Target, start: ResponseStart) => PreparedResponse;

export interface BackgroundDeps {
  readonly calls: Calls;
  readonly prepare: PrepareResponse;
  readonly newId: () => string;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly storage: DatabaseResponseStorage;
  readonly responses: ResponseStore;
  readonly lease: NodeLease;
  readonly inFlightCalls: InFlightCalls;
  /** Maximum duration of a run, and so of the per-request keys of its applications. Six hours by default. */
  readonly maxRunMs?: number;
}

interface BackgroundRequest {
  readonly target: Target;
  readonly request: ResponsesRequest;
  /** Body as received, because another node may have to parse it again. */
  readonly body: unknown;
}

/** A response that is stored but has not started. */
interface QueuedResponse {
  readonly response: ResponseObject;
  /** Names of fields that the translation omitted. */
  readonly ignoredFields: readonly string[];
  /** Resolves when the run has ended. */
  readonly ended: Promise<void>;
}

interface RunStart extends BackgroundRequest {
  readonly databaseResponse: DatabaseResponse;
  readonly existing?: { readonly id: string; readonly createdAtSeconds: number };
}

interface ChatRunRequest {
  /** The run ends the call record of the target. */
  readonly target: Target;
  readonly input: ChatInput;
  /** ID that the client chose. */
  readonly id: string;
  readonly ref: ResponseRef;
}

export interface StartedChatRun {
  /** The run at its start. */
  readonly response: JsonObject;
  /** Resolves when the first event arrives or the run ends. The value is the error of a run that failed before its first event. */
  readonly started: Promise<ParleyError | undefined>;
  readonly answer: Answer;
}

/** A run whose answer can start. */
interface ReadyRun
  extends Pick<PreparedResponse, 'input'>,
    Pick<BackgroundRunDeps, 'ref' | 'target' | 'translation' | 'databaseResponse'> {
  /** Whether another node may have claimed the run. */
  readonly isQueued: boolean;
}

/** Maximum time between reads of the store for clients that follow a run of this node. Each change also wakes them. */
const ownRunPollMs = 2_000;
const maxRuns = 2_000;
const defaultMaxRunMs = 6 * 60 * 60 * 1000;

/** Background responses and chat runs of this node. */
export class BackgroundRuns {
  readonly #deps: BackgroundDeps;
  readonly #runsById = new Map<string, BackgroundRun>();
  readonly #waitersById = new Map<string, Set<() => void>>();

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
  }

  /** Number of further runs that this node accepts. */
  get capacity(): number {
    return this.#deps.inFlightCalls.isClosed ? 0 : Math.max(0, maxRuns - this.#runsById.size);
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.#runsById.keys());
  }

  /**
   * Resolves with the queued response after the limits admit it and it is stored. The response then continues in the
   * background. Throws the error of a rejected response.
   */
  async create({ target, request, body }: BackgroundRequest): Promise<QueuedResponse> {
    const { storage } = this.#deps;
    const databaseResponse = await storage.open(target, request);
    const onAdmitted = async ({ translation, listIgnoredFields }: PreparedResponse) => {
      const response = { ...translation.response };
      await databaseResponse.queue(response, serializeQueuedRun(target, body));
      return { response, ignoredFields: listIgnoredFields() };
    };
    const { admitted, ended } = await this.#start({ target, request, body, databaseResponse }, onAdmitted);
    return { ...admitted, ended };
  }

  /**
   * Starts a chat completion that continues without its client. Resolves after the limits admit it and it is stored. Throws the
   * error of a rejected completion, `precondition_failed` if its ID is in use, and `too_many_chat_runs` if the user has too many.
   */
  async startChatRun({ target, input, id, ref }: ChatRunRequest): Promise<StartedChatRun> {
    const { storage, clock } = this.#deps;
    if (this.capacity === 0) throw new ParleyError('overloaded', 'This node has too many runs.', { retryAfterSeconds: 1 });
    const { call } = target;
    const databaseResponse = storage.openChatRun(target);
    const createdAtSeconds = Math.floor(clock.epochMs() / 1000);
    const translation = new ChatRunTranslation({ ref, id, model: call.deployment, createdAtSeconds, record: call.record, clock });
    const onAdmitted = async (): Promise<void> => {
      if (!(await databaseResponse.beginChatRun(translation.response))) throw await this.#toChatRunRejection(ref);
    };
    const { answer, admitted } = this.#answer({ ref, target, input, translation, databaseResponse, isQueued: false }, onAdmitted);
    await admitted.catch((error) => {
      void databaseResponse.onEnded(undefined);
      throw error;
    });
    return { response: translation.visibleRun, started: translation.started, answer };
  }

  async #toChatRunRejection(ref: ResponseRef): Promise<ParleyError> {
    const existing = await this.#deps.responses.find(ref, this.#deps.clock.epochMs());
    return existing === undefined
      ? new ParleyError('too_many_chat_runs', 'You have too many answers in progress. Wait until one ends.', {
          retryAfterSeconds: 5,
        })
      : new ParleyError('precondition_failed', 'You have a chat run with this ID. Follow it, or choose another ID.');
  }

  /** Answers a queued run, unless another node does. */
  async claim(ref: ResponseRef): Promise<void> {
    const { lease, responses, clock } = this.#deps;
    if (this.#runsById.has(ref.id)) return;
    await lease.hold();
    const release = (): Promise<void> => responses.runs.release(ref, lease.node);
    try {
      const claimedRun = await responses.runs.claim(ref, lease.node, clock.epochMs());
      if (claimedRun !== undefined) await this.#resume(claimedRun);
    } catch (error) {
      // Otherwise the run would wait forever, because other nodes do not claim runs of a live node.
      void release().catch(() => retryUntilStored(clock, release));
      throw error;
    } finally {
      lease.release();
    }
  }

  /** Cancels a run of this node. Resolves after the cancellation is stored. */
  async cancel(id: string): Promise<void> {
    await this.#runsById.get(id)?.stop();
  }

  /** Ends a run of this node that was deleted, or that another node ended. */
  drop(id: string): void {
    this.#runsById.get(id)?.drop();
  }

  /** Resolves when a run of this node has new events. Waits at most `ownRunPollMs`, or `ms` for a run of another node. */
  waitForChange(id: string, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waitersById.get(id) ?? new Set();
      this.#waitersById.set(id, waiters);
      const wake = (): void => {
        clearTimeout(timer);
        waiters.delete(wake);
        if (waiters.size === 0 && this.#waitersById.get(id) === waiters) this.#waitersById.delete(id);
        resolve();
      };
      const timer = setTimeout(wake, this.#runsById.has(id) ? ownRunPollMs : ms);
      waiters.add(wake);
    });
  }

  async #resume({ run: queued, ...ref }: QueuedRun): Promise<void> {
    const { calls, storage, responses, lease, clock, newId } = this.#deps;
    const stored = await responses.find(ref, clock.epochMs());
    if (stored === undefined) return;
    try {
      const { body, caller, deployment, ...inherited } = parseQueuedRun(queued);
      const id = newId();
      const record = this.#startRecord({ id, caller, deployment }, inherited);
      const target = await calls.authorize({ id, deployment, caller, record }, 'chat');
      const request = parseResponsesRequest(body);
      const databaseResponse = await storage.open(target, request);
      await databaseResponse.resume().catch(async (error) => {
        await databaseResponse.onEnded(undefined);
        throw error;
      });
      const existing = { id: ref.id, createdAtSeconds: Math.floor(stored.createdAtMs / 1000) };
      await this.#start({ target, request, body, databaseResponse, existing }, async () => undefined);
    } catch (error) {
      const ended = toFailedResponse(stored, { code: 'server_error', message: toParleyError(error).message }, 0);
      await responses.end(ended, lease.node);
    }
  }

  /**
   * Starts a run. Resolves after the limits admit it, with the value of `onAdmitted` and with a promise for the end of the run.
   * Throws the error of a rejected run.
   */
  async #start<Value>(
    { target: requestedTarget, request, body, databaseResponse, existing }: RunStart,
    onAdmitted: (ready: PreparedResponse) => Promise<Value>,
  ): Promise<{ readonly admitted: Value; readonly ended: Promise<void> }> {
    const { prepare, clock } = this.#deps;
    const record = this.#startRecord(requestedTarget.call, requestedTarget.call.record);
    const target: Target = { ...requestedTarget, call: { ...requestedTarget.call, record } };
    const { earlierItems, input: items, conversation } = databaseResponse;
    const opened: OpenedResponse = { ...unstoredFields, earlierItems, input: items, shouldStore: true, conversation };
    try {
      const prepared = prepare(target, { request, body: body as JsonObject, opened, ...(existing && { existing }) });
      const { translation, input } = prepared;
      const ref = { id: translation.response.id, subject: target.call.caller.subject };
      const ready = { ref, target, input, translation, databaseResponse, isQueued: true };
      const { answer, admitted } = this.#answer(ready, () => onAdmitted(prepared));
      return { admitted: await admitted, ended: answer.ended };
    } catch (error) {
      await closeRejectedRun(databaseResponse, record, clock);
      throw error;
    }
  }

  /**
   * Starts the answer of a run. Calls `onAdmitted` after the limits admit the run, to store its start. `admitted` resolves with the
   * value of `onAdmitted`, or rejects if the run is rejected. Throws an error with status 400 if the request is invalid.
   */
  #answer<Value>(
    { ref, target, input, translation, databaseResponse, isQueued }: ReadyRun,
    onAdmitted: () => Promise<Value>,
  ): { readonly answer: Answer; readonly admitted: Promise<Value> } {
    const { calls, responses, lease, inFlightCalls, clock, maxRunMs = defaultMaxRunMs } = this.#deps;
    const background = new BackgroundRun({
      ref,
      target,
      translation,
      databaseResponse,
      node: lease.node,
      runs: responses.runs,
      clock,
      onChange: () => this.#wakeWaiters(ref.id),
      onEnded: () => {
        if (this.#runsById.get(ref.id) === background) this.#runsById.delete(ref.id);
        inFlightCalls.delete(background);
      },
    });
    const admission = Promise.withResolvers<Value>();
    let isAdmitted = false;
    const startRun = async (): Promise<void> => {
      const value = await onAdmitted();
      isAdmitted = true;
      this.#runsById.set(ref.id, background);
      inFlightCalls.add(background);
      background.endAfter(maxRunMs);
      admission.resolve(value);
      if (isQueued && !(await responses.runs.start(ref, lease.node))) background.drop();
    };
    const answer = calls.answer(
      target,
      { ...input, onAdmitted: startRun },
      {
        push: (frame) => background.push(frame),
        end: () => background.end(),
        fail: (error) => (isAdmitted ? background.fail(error) : admission.reject(error)),
      },
    );
    background.follow(answer);
    return { answer, admitted: admission.promise };
  }

  #wakeWaiters(id: string): void {
    for (const wake of [...(this.#waitersById.get(id) ?? [])]) wake();
  }

  /** A run is a separate call, because the request that created it ends much earlier. */
  #startRecord(
    { id: requestId, caller, deployment }: Omit<Target['call'], 'record'>,
    { tags, isPrivate }: Pick<CallRecord, 'tags' | 'isPrivate'>,
  ): CallRecord {
    const { telemetry, clock } = this.#deps;
    const noTrace = { traceparent: undefined, tracestate: undefined };
    const record = telemetry.startCall({ operation: 'chat', route: undefined, requestId, ...noTrace, atMs: clock.nowMs() });
    record.caller = caller;
    record.tags = tags;
    record.isPrivate = isPrivate;
    record.setDeployment(deployment);
    return record;
  }
}

/** Releases the resources of a run that did not start. Never fails. */
async function closeRejectedRun(databaseResponse: DatabaseResponse, record: CallRecord, clock: Clock): Promise<void> {
  await databaseResponse.onEnded(undefined);
  const noUsage = { error: undefined, promptTokens: 0, completionTokens: 0 };
  record.end({ outcome: 'refused', status: 400, ...noUsage, atMs: clock.nowMs() });
}
