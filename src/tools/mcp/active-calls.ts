import { AsyncLocalStorage } from 'node:async_hooks';
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { raceAbort } from '#base/stream/race-abort.ts';
import type { ToolQuestion } from '#domain/tools/tool.ts';
import { type Answers, toNextQuestion } from './question.ts';
import { computeHash } from './server-caches.ts';

const cancelled: ElicitResult = { action: 'cancel' };

/**
 * The tool calls that wait on one connection of the 2025 revisions, where a server asks in the middle of a call. A person may
 * take days to answer: the call is ended with the question, and made again with the answer, which the same question is then
 * given at once.
 */
export class ActiveCalls {
  readonly #stream = new AsyncLocalStorage<ActiveCall>();
  readonly #running = new Map<ActiveCall, Promise<void>>();
  #isWaiting = false;

  /** What arrives on the stream of the work's own requests is told apart from all others. */
  async run<Value>(call: ActiveCall, work: () => Promise<Value>): Promise<Value> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.set(call, promise);
    try {
      return await this.#stream.run(call, work);
    } finally {
      this.#running.delete(call);
      resolve();
    }
  }

  /** What the server is told to a question; `signal` is aborted when it does not wait for it any more. */
  async answer(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult> {
    const call = this.#stream.getStore() ?? (await this.#waitForLast(signal));
    return call?.answer(params) ?? cancelled;
  }

  /**
   * A stream that calls share does not tell whose question it is: it is that of the call which is left when the others have
   * ended. A second question at that time is cancelled, which ends its call.
   */
  async #waitForLast(signal: AbortSignal): Promise<ActiveCall | undefined> {
    if (this.#isWaiting) return undefined;
    this.#isWaiting = true;
    try {
      const calls = [...this.#running.keys()];
      for (;;) {
        const remaining = calls.filter((call) => this.#running.has(call));
        if (remaining.length <= 1) return remaining[0];
        await raceAbort(Promise.race(remaining.map((call) => this.#running.get(call))), signal);
      }
    } finally {
      this.#isWaiting = false;
    }
  }
}

/** One call, with what the user answered to what the server asked in earlier runs of it. */
export class ActiveCall {
  readonly #server: string;
  readonly #responses: NonNullable<Answers['inputResponses']>;
  readonly #interruption = new AbortController();
  #questionCount = 0;
  #question: ToolQuestion | undefined;

  constructor(server: string, { inputResponses = {} }: Answers) {
    this.#server = server;
    this.#responses = inputResponses;
  }

  /** What the user has to be asked before the call can be made again. */
  get question(): ToolQuestion | undefined {
    return this.#question;
  }

  /** Aborted once there is a question, or with the ToolFault that says why there can be none. */
  get endSignal(): AbortSignal {
    return this.#interruption.signal;
  }

  answer(params: ElicitRequest['params']): ElicitResult {
    if (this.endSignal.aborted) return cancelled;
    // Matched by position and wording: if the server asks differently this time, the user is asked again.
    const key = `${this.#questionCount} ${computeHash([params])}`;
    this.#questionCount += 1;
    const response = Object.hasOwn(this.#responses, key) ? this.#responses[key] : undefined;
    if (response !== undefined) return response as ElicitResult;
    this.#setQuestion(key, params);
    return cancelled;
  }

  #setQuestion(key: string, params: ElicitRequest['params']): void {
    const request = { method: 'elicitation/create', params };
    try {
      this.#question = toNextQuestion(this.#server, { key, request, answers: this.#responses });
      this.#interruption.abort();
    } catch (error) {
      this.#interruption.abort(error);
    }
  }
}
