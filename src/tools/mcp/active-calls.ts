import { AsyncLocalStorage } from 'node:async_hooks';
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { raceAbort } from '#base/stream/race-abort.ts';
import type { ToolQuestion } from '#domain/tools/tool.ts';
import { type Answers, toNextQuestion } from './question.ts';
import { computeHash } from './server-caches.ts';

const cancelled: ElicitResult = { action: 'cancel' };

/**
 * The running tool calls of one connection of the 2025 revisions, where a server can ask a question during a call. A user may
 * take days to answer. Therefore the question ends the call. After the answer, the call is repeated, and the same question is
 * answered immediately.
 */
export class ActiveCalls {
  readonly #stream = new AsyncLocalStorage<ActiveCall>();
  readonly #running = new Map<ActiveCall, Promise<void>>();
  #isWaiting = false;

  /** Runs `work` as part of a call. Questions on the streams of its requests are attributed to the call. */
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

  /** Answers a question of the server. `signal` aborts if the server no longer waits for the answer. */
  async answer(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult> {
    const call = this.#stream.getStore() ?? (await this.#waitForLast(signal));
    return call?.answer(params) ?? cancelled;
  }

  /**
   * Waits until only one call is left. If calls share a stream, only then is it certain which call a question belongs to. A
   * second question in the meantime is canceled, which ends its call.
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

/** One call, with the user's answers to the questions of its earlier attempts. */
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

  /** The question to ask the user before the call can be repeated. */
  get question(): ToolQuestion | undefined {
    return this.#question;
  }

  /** Aborted when there is a question, or with a `ToolError` if the question is not supported. */
  get endSignal(): AbortSignal {
    return this.#interruption.signal;
  }

  answer(params: ElicitRequest['params']): ElicitResult {
    if (this.endSignal.aborted) return cancelled;
    // Answers match by position and wording. If the server asks differently this time, the user is asked again.
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
