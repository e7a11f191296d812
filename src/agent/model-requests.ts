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

/** Sends the requests of a run. A request has the offered tools, and the conversation, shortened to fit into the context window. */
export class ModelRequests {
  readonly #options: LoopOptions;
  readonly #toolset: Toolset;
  readonly #results: FullResults;
  readonly #window: ContextWindow | undefined;
  #changes: ContextChange[] = [];
  /** Messages that ask for the answer in a format. If defined, the model is offered no tools. */
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

  /** Sends a request to the model. `dropMedia` is called before a retry without the media of tools. */
  sendRequest(turnNumber: number, messages: readonly Message[], dropMedia: () => void): AsyncIterable<Frame> {
    // Fitting can clear tool results, which the model can read again with a tool. Therefore, select the tools after fitting.
    const send = (fittedRequest: ChatRequest): AsyncIterable<Frame> =>
      sendWithMedia(this.#options.sendRequest, { ...fittedRequest, ...this.#createToolFields(turnNumber) }, dropMedia);
    const request = this.#createRequest(turnNumber, messages);
    return this.#window === undefined ? send(request) : sendWithinWindow(this.#window, send, request);
  }

  /** Appends these messages to all further requests, and no longer offers tools. */
  requestFormat(formatMessages: readonly Message[]): void {
    this.#formatMessages = formatMessages;
  }

  /** Whether the first request offers tools. */
  get offersTools(): boolean {
    return this.#createToolFields(1).tools !== undefined;
  }

  /** Returns the reductions since the last call. */
  consumeChanges(): readonly ContextChange[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** Returns the maximum size in bytes of each of `resultCount` tool results of a turn. */
  getMaxResultBytes(turnNumber: number, messages: readonly Message[], resultCount: number): number {
    return this.#window?.getMaxResultBytes(this.#createRequest(turnNumber, messages), resultCount) ?? Number.POSITIVE_INFINITY;
  }

  /** Returns the memory for the next run, or undefined if the full conversation is sent. */
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
      ...otherFields
    } = this.#options.request;
    const messages = [...conversation, ...(this.#formatMessages ?? [])];
    const toolFields = this.#createToolFields(turnNumber);
    const canHaveFormat = toolFields.tools === undefined || this.#options.acceptsFormatWithTools !== false;
    return { ...otherFields, messages, ...toolFields, ...(format !== undefined && canHaveFormat && { response_format: format }) };
  }

  /** Returns the tools to offer. The last turn has none. `tool_choice` applies to the first turn only. */
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

/** Sends a request within the context window. If the model still rejects it as too long, reduces it and sends it once more. */
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
