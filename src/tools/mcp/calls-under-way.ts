import { AsyncLocalStorage } from 'node:async_hooks';
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { untilAborted } from '#base/stream/until-aborted.ts';
import type { ToolQuestion } from '#domain/tools/tool.ts';
import { type Answers, toNextQuestion } from './question.ts';
import { hashOf } from './server-caches.ts';

const cancelled: ElicitResult = { action: 'cancel' };

/**
 * The tool calls that wait on one connection of the 2025 revisions, where a server asks in the middle of a call. A person may
 * take days to answer: the call is ended with the question, and made again with the answer, which the same question is then
 * given at once.
 */
export class CallsUnderWay {
  readonly #stream = new AsyncLocalStorage<CallUnderWay>();
  readonly #running = new Map<CallUnderWay, Promise<void>>();
  #isWaiting = false;

  /** What arrives on the stream of the work's own requests is told apart from all others. */
  async run<Value>(call: CallUnderWay, work: () => Promise<Value>): Promise<Value> {
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
    const call = this.#stream.getStore() ?? (await this.#lastLeft(signal));
    return call?.answer(params) ?? cancelled;
  }

  /**
   * A stream that calls share does not tell whose question it is: it is that of the call which is left when the others have
   * ended. A second question at that time is cancelled, which ends its call.
   */
  async #lastLeft(signal: AbortSignal): Promise<CallUnderWay | undefined> {
    if (this.#isWaiting) return undefined;
    this.#isWaiting = true;
    try {
      const asked = [...this.#running.keys()];
      for (;;) {
        const left = asked.filter((call) => this.#running.has(call));
        if (left.length <= 1) return left[0];
        await untilAborted(Promise.race(left.map((call) => this.#running.get(call))), signal);
      }
    } finally {
      this.#isWaiting = false;
    }
  }
}

/** One call, with what the user answered to what the server asked in earlier runs of it. */
export class CallUnderWay {
  readonly #server: string;
  readonly #given: NonNullable<Answers['inputResponses']>;
  readonly #asking = new AbortController();
  #asked = 0;
  #question: ToolQuestion | undefined;

  constructor(server: string, { inputResponses = {} }: Answers) {
    this.#server = server;
    this.#given = inputResponses;
  }

  /** What the user has to be asked before the call can be made again. */
  get question(): ToolQuestion | undefined {
    return this.#question;
  }

  /** Aborted once there is a question, or with the ToolFault that says why there can be none. */
  get ended(): AbortSignal {
    return this.#asking.signal;
  }

  answer(params: ElicitRequest['params']): ElicitResult {
    if (this.ended.aborted) return cancelled;
    // Matched by position and wording: if the server asks differently this time, the user is asked again.
    const key = `${this.#asked} ${hashOf([params])}`;
    this.#asked += 1;
    const given = Object.hasOwn(this.#given, key) ? this.#given[key] : undefined;
    if (given !== undefined) return given as ElicitResult;
    this.#ask(key, params);
    return cancelled;
  }

  #ask(key: string, params: ElicitRequest['params']): void {
    const request = { method: 'elicitation/create', params };
    try {
      this.#question = toNextQuestion(this.#server, { key, request, answers: this.#given });
      this.#asking.abort();
    } catch (fault) {
      this.#asking.abort(fault);
    }
  }
}
