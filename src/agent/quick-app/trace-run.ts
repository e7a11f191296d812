import type { JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage, ResponseCustomContent } from '#contract/chat/chunk.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import { toParleyError } from '#contract/errors/errors.ts';
import type { InnerReply } from '#domain/calls/call.ts';
import type { QuickApp } from '#domain/quick-app/quick-app.ts';
import type { Tool, ToolContext, ToolResult } from '#domain/tools/tool.ts';
import type { PricedUsage } from '#domain/usage/usage.ts';
import { listAuthorizationSecrets, maskSecrets } from '#tools/authorization/authorizer.ts';
import type { ContextChange } from '../context/context-window.ts';
import { getFailureReason, withheldReason } from '../perform-tool.ts';
import { Reply } from '../reply.ts';
import { Turn, TurnUsage } from '../turn.ts';
import { type QuickAppRun, runQuickApp } from './run-quick-app.ts';

/**
 * One item of `custom_content.trace`: a model request, a tool call, a missing toolset, or a reduction of the context
 * (docs/quick-apps.md). Times are in milliseconds.
 */
export interface TraceItem {
  readonly index: number;
  readonly kind: 'model' | 'tool' | 'toolset' | 'context';
  /** Number of the model request, starting at 1. Other items have the number of the last request before them, or 0. */
  readonly turn: number;
  /** Deployment ID of the model, name of the tool or toolset, or strategy of the reduction. */
  readonly name: string;
  /** Time since the start of the run. */
  readonly at_ms: number;
  readonly duration_ms: number;
  /** Time to the first frame of the model's reply. */
  readonly first_ms?: number;
  /** JSON, so that readers cannot mistake parts of it for parts of the reply. */
  readonly sent: string;
  readonly received: string;
  readonly error?: string;
  readonly usage_per_model?: readonly ModelUsage[];
  readonly cost_usd?: number;
}

type TraceStart = Pick<TraceItem, 'kind' | 'turn' | 'name' | 'at_ms' | 'sent'>;

interface TraceOptions {
  /** Start of the run on the clock's `nowMs`, before its tools were loaded. */
  readonly startedMs: number;
  /** Returns the cost of tokens in USD, or undefined if it is unknown. */
  readonly computeCostUsd: (usage: readonly PricedUsage[]) => number | undefined;
}

/**
 * Runs a quick app, and adds a trace to its reply: missing toolsets, model requests and replies, tool calls, and context
 * reductions.
 */
export async function* traceRun(run: QuickAppRun, options: TraceOptions): AsyncIterable<Frame> {
  const trace = new Trace(run, options);
  let hasStarted = false;
  try {
    for await (const frame of runQuickApp(trace.run)) {
      if (hasStarted) yield* trace.flush();
      hasStarted = true;
      yield frame;
    }
  } catch (error) {
    if (hasStarted) yield* trace.flush();
    throw error;
  }
}

class Trace {
  /** The run, with its model and tools wrapped for tracing. */
  readonly run: QuickAppRun;
  readonly #computeCostUsd: TraceOptions['computeCostUsd'];
  readonly #formatter: TraceFormatter;
  readonly #startedMs: number;
  #unsent: TraceItem[] = [];
  #itemCount = 0;
  #turn = 0;
  /** Messages of the previous turn. */
  #previousMessages: readonly Message[] = [];
  /** Tools of the previous turn as JSON. */
  #previousTools = '';

  constructor(run: QuickAppRun, { startedMs, computeCostUsd }: TraceOptions) {
    const { tools, missing } = run.tools;
    this.run = {
      ...run,
      sendModelRequest: (request, purpose) => this.#sendRequest(run, request, purpose),
      wrapTool: (tool) => this.#wrapTool(tool),
      onContextChange: (change) => this.#recordContextChange(change),
      tools: { ...run.tools, tools: tools.map((tool) => this.#wrapTool(tool)) },
      onRejectedCall: ({ name, args, reason }) =>
        this.#endItem(this.#startItem('tool', name, this.#formatter.formatJson(args)), { received: '', error: reason }),
    };
    this.#computeCostUsd = computeCostUsd;
    this.#formatter = new TraceFormatter(run.app);
    this.#startedMs = startedMs;
    for (const { name, reason, tookMs = 0 } of missing)
      this.#push({ kind: 'toolset', turn: 0, name, at_ms: 0, sent: '' }, roundMs(tookMs), { received: '', error: reason });
  }

  /** Yields the completed items that have not been sent yet. */
  *flush(): Iterable<Frame> {
    const trace = this.#unsent;
    if (trace.length === 0) return;
    this.#unsent = [];
    const custom_content: ResponseCustomContent & { trace: readonly TraceItem[] } = { trace };
    yield Frame.ofChunks(new Reply(this.run).createChunk({ custom_content }));
  }

  #recordContextChange({ strategy, wasRejected, tokens, clearedResults, summarizedMessages, summaryError }: ContextChange): void {
    const sent = { tokens: tokens.before, most: tokens.max, refused: wasRejected };
    const received = { tokens: tokens.after, cleared_results: clearedResults, summarized_messages: summarizedMessages };
    const end = { received: this.#formatter.formatJson(received), ...(summaryError !== undefined && { error: summaryError }) };
    this.#endItem(this.#startItem('context', strategy, this.#formatter.formatJson(sent)), end);
  }

  /** Traces a model request. A summary does not count as a turn, and does not change which messages the next turn omits. */
  async #sendRequest(run: QuickAppRun, request: ChatRequest, purpose?: 'summary'): Promise<InnerReply> {
    if (purpose === undefined) this.#turn += 1;
    const sent =
      purpose === undefined
        ? this.#toSent(request)
        : this.#formatter.formatJson({ messages_before: 0, messages: request.messages });
    const start = this.#startItem('model', request.model ?? run.app.model, sent);
    try {
      const reply = await run.sendModelRequest(request, purpose);
      return { ...reply, frames: this.#wrapFrames(reply.frames, start) };
    } catch (error) {
      this.#endItem(start, { received: '', error: toParleyError(error).message });
      throw error;
    }
  }

  async *#wrapFrames(frames: AsyncIterable<Frame>, start: TraceStart): AsyncIterable<Frame> {
    const turn = new Turn();
    const usage = new TurnUsage(start.name);
    let first_ms: number | undefined;
    let error: string | undefined;
    try {
      for await (const frame of frames) {
        first_ms ??= this.#sinceMs(start);
        for (const chunk of frame.chunks) {
          usage.addChunk(chunk);
          turn.addChunk(chunk);
        }
        yield frame;
      }
    } catch (cause) {
      error = toParleyError(cause).message;
      throw cause;
    } finally {
      const items = usage.items();
      const cost_usd = this.#computeCostUsd(usage.pricedItems());
      this.#endItem(start, {
        received: this.#formatter.formatJson(toReceived(turn)),
        ...(first_ms !== undefined && { first_ms }),
        ...(error !== undefined && { error }),
        ...(items.length > 0 && { usage_per_model: items }),
        ...(cost_usd !== undefined && { cost_usd }),
      });
    }
  }

  #wrapTool(tool: Tool): Tool {
    return { ...tool, run: (args, context) => this.#runTool(tool, args, context) };
  }

  async #runTool(tool: Tool, args: JsonObject, context: ToolContext): Promise<ToolResult> {
    const start = this.#startItem('tool', tool.name, this.#formatter.formatJson(args));
    try {
      const result = await tool.run(args, context);
      const { text, failed, question, note } = result;
      const received =
        question === undefined ? { text, failed, ...(note !== undefined && { note }) } : { question: question.message };
      this.#endItem(start, { received: this.#formatter.formatJson(received) });
      return result;
    } catch (cause) {
      const { timeoutMs } = this.run.limits;
      const error = getFailureReason(cause, { signal: context.signal, timeoutMs }) ?? withheldReason;
      this.#endItem(start, { received: '', error });
      throw cause;
    }
  }

  #startItem(kind: TraceItem['kind'], name: string, sent: string): TraceStart {
    return { kind, turn: this.#turn, name, at_ms: roundMs(this.run.clock.nowMs() - this.#startedMs), sent };
  }

  #endItem(start: TraceStart, end: Pick<TraceItem, 'received'> & Partial<TraceItem>): void {
    this.#push(start, this.#sinceMs(start), end);
  }

  #push(start: TraceStart, duration_ms: number, end: Pick<TraceItem, 'received'> & Partial<TraceItem>): void {
    const error = end.error === undefined ? {} : { error: this.#formatter.format(end.error) };
    this.#unsent.push({ index: this.#itemCount++, ...start, duration_ms, ...end, ...error });
  }

  #sinceMs({ at_ms }: TraceStart): number {
    return roundMs(this.run.clock.nowMs() - this.#startedMs - at_ms);
  }

  /** Omits messages and tools that the previous turn already contained. */
  #toSent({ messages, model: _model, stream: _stream, tools, ...settings }: ChatRequest): string {
    const firstChanged = messages.findIndex((message, index) => message !== this.#previousMessages[index]);
    const messages_before = firstChanged === -1 ? messages.length : firstChanged;
    this.#previousMessages = messages;
    const serializedTools = JSON.stringify(tools ?? []);
    const isSame = serializedTools === this.#previousTools;
    this.#previousTools = serializedTools;
    return this.#formatter.formatJson({
      messages_before,
      messages: messages.slice(messages_before),
      ...(!isSame && { tools: tools ?? [] }),
      ...settings,
    });
  }
}

function toReceived(turn: Turn): JsonObject {
  const { role: _role, tool_calls, ...otherFields } = turn.toMessage();
  return { ...otherFields, ...(turn.calls.length > 0 && { tool_calls }), finish_reason: turn.finishReason };
}

function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Maximum number of characters per inner text, per text of an item, and in total. */
const maxChars = { inner: 16_000, item: 64_000, all: 1_000_000 };
/** Maximum number of characters of a data URL in a message. */
const maxDataUrlChars = 100;

/** Formats the texts of a trace. Masks the secrets of the application, and truncates texts to bound their total size. */
class TraceFormatter {
  readonly #secrets: readonly string[];
  #remainingChars = maxChars.all;

  constructor(app: QuickApp) {
    this.#secrets = app.toolsets.flatMap((toolset) =>
      'authorization' in toolset ? listAuthorizationSecrets(toolset.authorization) : [],
    );
  }

  format(text: string): string {
    return this.#limit(shorten(maskSecrets(text, this.#secrets), maxChars.inner));
  }

  /** Returns the value as JSON, truncated if it is too long. */
  formatJson(value: unknown): string {
    const text = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'string' ? this.#formatInner(inner) : inner));
    return this.#limit(shorten(text, maxChars.item));
  }

  #formatInner(text: string): string {
    const maxLength = text.startsWith('data:') ? maxDataUrlChars : maxChars.inner;
    return shorten(maskSecrets(text, this.#secrets), maxLength);
  }

  #limit(text: string): string {
    const shortened = shorten(text, this.#remainingChars);
    this.#remainingChars = Math.max(0, this.#remainingChars - shortened.length);
    return shortened;
  }
}

function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength).toWellFormed()}… [${text.length - maxLength} more characters]`;
}
