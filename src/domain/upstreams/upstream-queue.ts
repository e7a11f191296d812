import { ParleyError } from '#contract/errors/errors.ts';
import type { Deployment } from '../deployments/deployment.ts';

/** Weight of the newest call in the exponential moving average of call durations. */
const newestWeight = 0.2;
const maxRetryAfterSeconds = 3_600;
/** Number of callers after which the queue forgets the turns of callers without waiting calls. */
const callerCleanupThreshold = 1_000;

/** A call that waits until an upstream has capacity. */
export interface WaitingCall {
  /** Subject of the caller. Callers take turns, so that many calls of one caller delay no other caller. */
  readonly caller: string;
  /** Start of the wait, in milliseconds of the clock of `LoadBalancer`. */
  readonly startedAtMs: number;
  /** Whether the call waits until no interactive call waits. */
  readonly isBatch: boolean;
  /** Whether only some of the upstreams can answer the call. They are the same for all selective calls of a deployment. */
  readonly isSelective: boolean;
  /**
   * Called when it is the turn of the call. Returns false if every upstream that can answer is still full, so that the call waits
   * again. Returns true if the call has started or failed.
   */
  readonly start: () => boolean;
  /** Called instead of `start` if the call was removed from the queue. */
  readonly fail: (error: ParleyError) => void;
}

/** The calls of one caller that wait for one deployment, in order of arrival. */
interface CallerLine {
  readonly calls: WaitingCall[];
  /** Number of the caller's last turn. 0 for a caller without a turn since the queue was empty. */
  lastTurn: number;
}

type Lines = Map<string, CallerLine>;

interface DeploymentQueue {
  readonly interactive: Lines;
  readonly batch: Lines;
  size: number;
  /** Number of selective calls. */
  selectiveSize: number;
  turns: number;
}

/**
 * Calls that wait because every upstream that can answer them has `maxParallel` calls in progress. Interactive calls come before
 * batch calls. Among equals, the next call is the oldest one of the caller whose last turn is the longest ago. A full queue
 * rejects the newest call of the caller with the most waiting calls.
 */
export class UpstreamQueue {
  readonly #queues = new Map<string, DeploymentQueue>();
  /** Average duration of the last calls in milliseconds, by deployment. */
  readonly #durations = new Map<string, number>();
  readonly #toOwnPart: (limit: number) => number;

  /** `toOwnPart` returns the part of a limit of the node that this process can use. */
  constructor(toOwnPart: (limit: number) => number) {
    this.#toOwnPart = toOwnPart;
  }

  /** Returns whether calls that come before a new call are waiting. Selective calls do not hold up other calls. */
  hasWaiting(deployment: string, isSelective: boolean): boolean {
    const queue = this.#queues.size > 0 ? this.#queues.get(deployment) : undefined;
    return queue !== undefined && (isSelective || queue.size > queue.selectiveSize);
  }

  /** Returns the number of waiting calls by deployment. Deployments without waiting calls are left out. */
  *listSizes(): Iterable<{ readonly deployment: string; readonly size: number }> {
    for (const [deployment, { size }] of this.#queues) yield { deployment, size };
  }

  /** Returns the start of the longest wait. Undefined if no call waits. */
  findOldestStartMs(deployment: string): number | undefined {
    const queue = this.#queues.get(deployment);
    const lines = queue === undefined ? [] : [...queue.interactive.values(), ...queue.batch.values()];
    const starts = lines.flatMap(({ calls: [oldest] }) => oldest?.startedAtMs ?? []);
    return starts.length === 0 ? undefined : Math.min(...starts);
  }

  /** Adds a call. Throws `overloaded` if the queue is full, or if the call would probably not start in time. */
  add(deployment: Deployment, call: WaitingCall): void {
    const { maxWaiting, maxWaitMs } = deployment.queue;
    const emptyQueue = { interactive: new Map(), batch: new Map(), size: 0, selectiveSize: 0, turns: 0 };
    const queue = this.#queues.get(deployment.id) ?? emptyQueue;
    const expectedMs = this.#estimateWaitMs(deployment, queue, call);
    if (expectedMs > maxWaitMs) throw createBusyError(deployment, expectedMs);
    if (queue.size >= this.#toOwnPart(maxWaiting)) {
      const newest = findCallToReject(queue, call);
      if (newest === undefined) throw createBusyError(deployment, expectedMs);
      this.remove(deployment, newest);
      newest.fail(createBusyError(deployment, expectedMs));
    }
    const lines = getLines(queue, call);
    const line = lines.get(call.caller);
    if (line !== undefined) line.calls.push(call);
    else {
      if (lines.size >= callerCleanupThreshold)
        for (const [caller, { calls }] of lines) if (calls.length === 0) lines.delete(caller);
      lines.set(call.caller, { calls: [call], lastTurn: 0 });
    }
    this.#queues.set(deployment.id, queue);
    this.#resize(deployment.id, queue, { call, change: 1 });
  }

  /** Removes a call that has not started. Has no effect if the call is not in the queue. */
  remove({ id }: Pick<Deployment, 'id'>, call: WaitingCall): void {
    const queue = this.#queues.get(id);
    const line = queue === undefined ? undefined : getLines(queue, call).get(call.caller);
    const index = line?.calls.indexOf(call) ?? -1;
    if (queue === undefined || line === undefined || index < 0) return;
    line.calls.splice(index, 1);
    this.#resize(id, queue, { call, change: -1 });
  }

  /** Returns the error for a call that has waited for `maxWaitMs`. */
  toTimeoutError(deployment: Deployment, call: WaitingCall): ParleyError {
    const queue = this.#queues.get(deployment.id);
    return createBusyError(deployment, queue === undefined ? 0 : this.#estimateWaitMs(deployment, queue, call));
  }

  /** Records the duration of a call whose end gave an upstream capacity. */
  recordDuration(deployment: string, durationMs: number): void {
    const average = this.#durations.get(deployment) ?? durationMs;
    this.#durations.set(deployment, average + (durationMs - average) * newestWeight);
  }

  /** Starts waiting calls until every upstream of the deployment is full. */
  startNext(deployment: string): void {
    let skipsSelective = false;
    for (let queue = this.#queues.get(deployment); queue !== undefined; queue = this.#queues.get(deployment)) {
      const line = findNextLine(queue.interactive, skipsSelective) ?? findNextLine(queue.batch, skipsSelective);
      if (line === undefined) return;
      const index = findNextIndex(line, skipsSelective);
      const [call] = line.calls.splice(index, 1) as [WaitingCall];
      if (call.start()) {
        queue.turns += 1;
        line.lastTurn = queue.turns;
        this.#resize(deployment, queue, { call, change: -1 });
      } else {
        line.calls.splice(index, 0, call);
        if (!call.isSelective) return;
        skipsSelective = true;
      }
    }
  }

  /** Changes the queue size for a call. Deletes an empty queue, which also resets the turns of all callers. */
  #resize(deployment: string, queue: DeploymentQueue, { call, change }: { call: WaitingCall; change: 1 | -1 }): void {
    queue.size += change;
    if (call.isSelective) queue.selectiveSize += change;
    if (queue.size === 0) this.#queues.delete(deployment);
  }

  /** Estimates the wait of a call that arrives now, in milliseconds. Returns 0 before the first call of the deployment has ended. */
  #estimateWaitMs({ id, upstreams }: Deployment, queue: DeploymentQueue, call: WaitingCall): number {
    const averageMs = this.#durations.get(id) ?? 0;
    let capacity = 0;
    for (const { weight, maxParallel } of upstreams) if (weight > 0) capacity += this.#toOwnPart(maxParallel ?? 0);
    const ownCount = getLines(queue, call).get(call.caller)?.calls.length ?? 0;
    let position = call.isBatch ? countWaiting(queue.interactive) : 0;
    for (const { calls } of getLines(queue, call).values()) position += Math.min(calls.length, ownCount + 1);
    return capacity === 0 ? 0 : ((position + 1) * averageMs) / capacity;
  }
}

function getLines(queue: DeploymentQueue, { isBatch }: WaitingCall): Lines {
  return isBatch ? queue.batch : queue.interactive;
}

function countWaiting(lines: Lines): number {
  let count = 0;
  for (const { calls } of lines.values()) count += calls.length;
  return count;
}

function findNextLine(lines: Lines, skipsSelective: boolean): CallerLine | undefined {
  let next: CallerLine | undefined;
  for (const line of lines.values())
    if (findNextIndex(line, skipsSelective) >= 0 && (next === undefined || line.lastTurn < next.lastTurn)) next = line;
  return next;
}

/** Returns the position of the first call of a line, or of its first call that is not selective. -1 if there is none. */
function findNextIndex({ calls }: CallerLine, skipsSelective: boolean): number {
  return calls.findIndex(({ isSelective }) => !skipsSelective || !isSelective);
}

/**
 * Returns the call that a full queue rejects in favor of `call`: the newest call of the caller with the most waiting calls. Batch
 * calls are rejected before interactive calls. Returns undefined if `call` itself must be rejected: its caller has the most waiting
 * calls of its kind, or it is a batch call and only interactive calls wait.
 */
function findCallToReject({ interactive, batch }: DeploymentQueue, call: WaitingCall): WaitingCall | undefined {
  const hasBatchCalls = countWaiting(batch) > 0;
  if (!hasBatchCalls && call.isBatch) return undefined;
  const lines = hasBatchCalls ? batch : interactive;
  let longest: CallerLine | undefined;
  for (const line of lines.values()) if (longest === undefined || line.calls.length > longest.calls.length) longest = line;
  const isOwnLineLongest =
    call.isBatch === hasBatchCalls && (lines.get(call.caller)?.calls.length ?? 0) + 1 >= (longest?.calls.length ?? 0);
  return isOwnLineLongest ? undefined : longest?.calls.at(-1);
}

function createBusyError({ id }: Deployment, waitMs: number): ParleyError {
  const retryAfterSeconds = Math.min(maxRetryAfterSeconds, Math.max(1, Math.ceil(waitMs / 1000)));
  return new ParleyError('overloaded', `Every upstream of ${id} is busy. Try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
  });
}
