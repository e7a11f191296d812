import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import { isContextFault } from '#domain/upstreams/upstream-error.ts';
import type { ContextMemory } from './context/cleared-messages.ts';
import { type ContextChange, type ContextOptions, ContextWindow } from './context/context-window.ts';
import type { LoopOptions } from './loop-options.ts';
import type { KeptResults } from './results/kept-results.ts';
import { askShowing } from './shown-media.ts';
import type { Toolset } from './toolset.ts';

interface Wiring {
  readonly toolset: Toolset;
  readonly results: KeptResults;
  readonly addUsage: (usage: readonly ModelUsage[]) => void;
}

/** What the model is sent in each turn of a run: the conversation, made to fit, and the tools that it is offered. */
export class ModelRequests {
  readonly #options: LoopOptions;
  readonly #toolset: Toolset;
  readonly #results: KeptResults;
  readonly #window: ContextWindow | undefined;
  #changes: ContextChange[] = [];
  /** What the model is told beside the conversation so that it answers in a form; then it is offered no tools. */
  #formatting: readonly Message[] | undefined;

  constructor(options: LoopOptions, wiring: Wiring) {
    this.#options = options;
    this.#toolset = wiring.toolset;
    this.#results = wiring.results;
    this.#window = options.context && this.#openWindow(options.context, wiring);
  }

  #openWindow(context: ContextOptions, { results, addUsage }: Wiring): ContextWindow {
    const onChange = (change: ContextChange): void => {
      this.#changes.push(change);
      context.onChange?.(change);
    };
    const toLine = (content: string, tool: string): string => results.toClearedLine(content, tool);
    return new ContextWindow({ ...context, onChange }, { toLine, addUsage });
  }

  /** Asks the model. `forget` is called if it is to be asked again without what tools showed. */
  ask(nth: number, messages: readonly Message[], forget: () => void): AsyncIterable<Frame> {
    // What is cleared while it is made to fit may be read again, so the tools are looked at last.
    const ask = (fitting: ChatRequest): AsyncIterable<Frame> =>
      askShowing(this.#options.ask, { ...fitting, ...this.#toOffer(nth) }, forget);
    const request = this.#toRequest(nth, messages);
    return this.#window === undefined ? ask(request) : askWithin(this.#window, ask, request);
  }

  /** From now on the model is told these messages behind the conversation, and offered no tools. */
  askInForm(formatting: readonly Message[]): void {
    this.#formatting = formatting;
  }

  /** Whether the model is offered tools in its first turn. */
  get offersTools(): boolean {
    return this.#toOffer(1).tools !== undefined;
  }

  /** What was done since it was asked last so that the conversation fits. */
  takeChanges(): readonly ContextChange[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** Bytes of each of so many results of a turn that the model can be shown. */
  resultBytes(nth: number, messages: readonly Message[], results: number): number {
    return this.#window?.resultBytes(this.#toRequest(nth, messages), results) ?? Number.POSITIVE_INFINITY;
  }

  /** What of the conversation is not sent any more, for the next run; undefined if all is. */
  toRemember(messages: readonly Message[]): ContextMemory | undefined {
    return this.#window?.toRemember(messages);
  }

  #toRequest(nth: number, conversation: readonly Message[]): ChatRequest {
    const {
      addons: _addons,
      n: _n,
      tools: _tools,
      tool_choice: _choice,
      parallel_tool_calls: _,
      response_format: format,
      ...rest
    } = this.#options.request;
    const messages = [...conversation, ...(this.#formatting ?? [])];
    const offered = this.#toOffer(nth);
    const mayHaveFormat = offered.tools === undefined || this.#options.takesFormatWithTools !== false;
    return { ...rest, messages, ...offered, ...(format !== undefined && mayHaveFormat && { response_format: format }) };
  }

  /** The tools that the model is offered: in the last turn none; a choice that forces one holds for the first turn only. */
  #toOffer(nth: number): Partial<ChatRequest> {
    const { tools, tool_choice, parallel_tool_calls } = this.#options.request;
    if (this.#results.hasAny || this.#window?.hasCleared) this.#toolset.offer(this.#results.toolName);
    const offered = [...(Array.isArray(tools) ? tools : []), ...this.#toolset.definitions];
    if (nth >= this.#options.maxTurns || this.#formatting !== undefined || offered.length === 0) return {};
    return {
      tools: offered,
      ...(nth === 1 && tool_choice !== undefined && { tool_choice }),
      ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    };
  }
}

/** Asks a model within its window. If it refuses a request as too long all the same, something is taken out and it is asked once more. */
async function* askWithin(
  window: ContextWindow,
  ask: (request: ChatRequest) => AsyncIterable<Frame>,
  request: ChatRequest,
): AsyncIterable<Frame> {
  let hasBegun = false;
  let smaller: ChatRequest | undefined;
  try {
    for await (const frame of ask(await window.fit(request))) {
      hasBegun = true;
      yield frame;
    }
    return;
  } catch (thrown) {
    if (!hasBegun && isContextFault(thrown)) smaller = await window.shrink(request);
    if (smaller === undefined) throw thrown;
  }
  yield* ask(smaller);
}
