import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import { isContextError } from '#domain/upstreams/upstream-error.ts';
import { type ContextChange, type ContextOptions, ContextWindow } from './context/context-window.ts';
import type { ContextMemory } from './context/message-renderer.ts';
import type { LoopOptions } from './loop-options.ts';
import type { FullResults } from './results/full-results.ts';
import { sendWithMedia } from './tool-media.ts';
import type { Toolset } from './toolset.ts';

interface Dependencies {
  readonly toolset: Toolset;
  readonly results: FullResults;
  readonly addUsage: (usage: readonly ModelUsage[]) => void;
}

/** What the model is sent in each turn of a run: the conversation, made to fit, and the tools that it is offered. */
export class ModelRequests {
  readonly #options: LoopOptions;
  readonly #toolset: Toolset;
  readonly #results: FullResults;
  readonly #window: ContextWindow | undefined;
  #changes: ContextChange[] = [];
  /** What the model is told beside the conversation so that it answers in a form; then it is offered no tools. */
  #formatMessages: readonly Message[] | undefined;

  constructor(options: LoopOptions, dependencies: Dependencies) {
    this.#options = options;
    this.#toolset = dependencies.toolset;
    this.#results = dependencies.results;
    this.#window = options.context && this.#createWindow(options.context, dependencies);
  }

  #createWindow(context: ContextOptions, { results, addUsage }: Dependencies): ContextWindow {
    const onChange = (change: ContextChange): void => {
      this.#changes.push(change);
      context.onChange?.(change);
    };
    const formatPlaceholder = (content: string, tool: string): string => results.formatPlaceholder(content, tool);
    return new ContextWindow({ ...context, onChange }, { formatPlaceholder, addUsage });
  }

  /** Asks the model. `forget` is called if it is to be asked again without what tools showed. */
  sendRequest(turnNumber: number, messages: readonly Message[], dropMedia: () => void): AsyncIterable<Frame> {
    // What is cleared while it is made to fit may be read again, so the tools are looked at last.
    const send = (fittedRequest: ChatRequest): AsyncIterable<Frame> =>
      sendWithMedia(this.#options.sendRequest, { ...fittedRequest, ...this.#createToolFields(turnNumber) }, dropMedia);
    const request = this.#createRequest(turnNumber, messages);
    return this.#window === undefined ? send(request) : sendWithinWindow(this.#window, send, request);
  }

  /** From now on the model is told these messages behind the conversation, and offered no tools. */
  requestFormat(formatMessages: readonly Message[]): void {
    this.#formatMessages = formatMessages;
  }

  /** Whether the model is offered tools in its first turn. */
  get offersTools(): boolean {
    return this.#createToolFields(1).tools !== undefined;
  }

  /** What was done since it was asked last so that the conversation fits. */
  consumeChanges(): readonly ContextChange[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** Bytes of each of so many results of a turn that the model can be shown. */
  getMaxResultBytes(turnNumber: number, messages: readonly Message[], resultCount: number): number {
    return this.#window?.getMaxResultBytes(this.#createRequest(turnNumber, messages), resultCount) ?? Number.POSITIVE_INFINITY;
  }

  /** What of the conversation is not sent any more, for the next run; undefined if all is. */
  exportMemory(messages: readonly Message[]): ContextMemory | undefined {
    return this.#window?.exportMemory(messages);
  }

  #createRequest(turnNumber: number, conversation: readonly Message[]): ChatRequest {
    const {
      addons: _addons,
      n: _n,
      tools: _tools,
      tool_choice: _choice,
      parallel_tool_calls: _,
      response_format: format,
      ...rest
    } = this.#options.request;
    const messages = [...conversation, ...(this.#formatMessages ?? [])];
    const toolFields = this.#createToolFields(turnNumber);
    const canHaveFormat = toolFields.tools === undefined || this.#options.takesFormatWithTools !== false;
    return { ...rest, messages, ...toolFields, ...(format !== undefined && canHaveFormat && { response_format: format }) };
  }

  /** The tools that the model is offered: in the last turn none; a choice that forces one holds for the first turn only. */
  #createToolFields(turnNumber: number): Partial<ChatRequest> {
    const { tools, tool_choice, parallel_tool_calls } = this.#options.request;
    if (this.#results.hasAny || this.#window?.isReduced) this.#toolset.offer(this.#results.toolName);
    const offeredTools = [...(Array.isArray(tools) ? tools : []), ...this.#toolset.definitions];
    if (turnNumber >= this.#options.maxTurns || this.#formatMessages !== undefined || offeredTools.length === 0) return {};
    return {
      tools: offeredTools,
      ...(turnNumber === 1 && tool_choice !== undefined && { tool_choice }),
      ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    };
  }
}

/** Asks a model within its window. If it refuses a request as too long all the same, something is taken out and it is asked once more. */
async function* sendWithinWindow(
  window: ContextWindow,
  sendRequest: (request: ChatRequest) => AsyncIterable<Frame>,
  request: ChatRequest,
): AsyncIterable<Frame> {
  let hasStarted = false;
  let smallerRequest: ChatRequest | undefined;
  try {
    for await (const frame of sendRequest(await window.fit(request))) {
      hasStarted = true;
      yield frame;
    }
    return;
  } catch (error) {
    if (!hasStarted && isContextError(error)) smallerRequest = await window.shrink(request);
    if (smallerRequest === undefined) throw error;
  }
  yield* sendRequest(smallerRequest);
}
