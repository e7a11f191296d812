import type { JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage, ResponseCustomContent } from '#contract/chat/chunk.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import { toParleyError } from '#contract/errors/errors.ts';
import type { InnerReply } from '#domain/call.ts';
import type { QuickApp } from '#domain/quick-app/quick-app.ts';
import type { Tool, ToolContext, ToolResult } from '#domain/tools/tool.ts';
import type { PricedUsage } from '#domain/usage/usage.ts';
import { withoutSecrets } from '#tools/authorization/masking.ts';
import type { ContextChange } from '../context/context-window.ts';
import { reasonOf, withheldReason } from '../perform-tool.ts';
import { Reply } from '../reply.ts';
import { Turn, TurnUsage } from '../turn.ts';
import { type QuickAppRun, runQuickApp } from './run-quick-app.ts';

/** One call of the model or of a tool, or a toolset that could not be had, as `custom_content.trace` has it (docs/quick-apps.md). Times in milliseconds. */
export interface TraceItem {
  readonly index: number;
  readonly kind: 'model' | 'tool' | 'toolset' | 'context';
  /** Which call of the model it is, or follows, from 1; 0 of a toolset. */
  readonly turn: number;
  /** Deployment id of the model; name of the tool or toolset; how a conversation was made to fit. */
  readonly name: string;
  /** Since the run began. */
  readonly at_ms: number;
  readonly duration_ms: number;
  /** Until the first part of the model's reply. */
  readonly first_ms?: number;
  /** JSON, so that no reader takes parts of it for parts of the reply. */
  readonly sent: string;
  readonly received: string;
  readonly error?: string;
  readonly usage_per_model?: readonly ModelUsage[];
  readonly cost_usd?: number;
}

type Beginning = Pick<TraceItem, 'kind' | 'turn' | 'name' | 'at_ms' | 'sent'>;

interface TraceOptions {
  /** When the run began, on the clock's `nowMs`: before its tools were looked for. */
  readonly beganMs: number;
  /** What tokens cost, in USD; undefined if nobody knows. */
  readonly price: (usage: readonly PricedUsage[]) => number | undefined;
}

/** Runs a quick app, and adds to its reply which toolsets are missing, what the model was sent in each turn, what it gave, and what its tools did. */
export async function* traceRun(run: QuickAppRun, options: TraceOptions): AsyncIterable<Frame> {
  const trace = new Trace(run, options);
  let hasStarted = false;
  try {
    for await (const frame of runQuickApp(trace.run)) {
      if (hasStarted) yield* trace.finished();
      hasStarted = true;
      yield frame;
    }
  } catch (thrown) {
    if (hasStarted) yield* trace.finished();
    throw thrown;
  }
}

class Trace {
  /** The run, with its model and its tools watched. */
  readonly run: QuickAppRun;
  readonly #price: TraceOptions['price'];
  readonly #text: TraceText;
  readonly #startedMs: number;
  #unsent: TraceItem[] = [];
  #items = 0;
  #turn = 0;
  #messages: readonly Message[] = [];
  #tools = '';

  constructor(run: QuickAppRun, { beganMs, price }: TraceOptions) {
    const { tools, missing } = run.tools;
    this.run = {
      ...run,
      askModel: (request, purpose) => this.#ask(run, request, purpose),
      watchTool: (tool) => this.#tracedTool(tool),
      onContextChange: (change) => this.#noteContext(change),
      tools: { ...run.tools, tools: tools.map((tool) => this.#tracedTool(tool)) },
      onRefusedCall: ({ name, args, reason }) =>
        this.#end(this.#begin('tool', name, this.#text.ofJson(args)), { received: '', error: reason }),
    };
    this.#price = price;
    this.#text = new TraceText(run.app);
    this.#startedMs = beganMs;
    for (const { name, reason, tookMs = 0 } of missing)
      this.#push({ kind: 'toolset', turn: 0, name, at_ms: 0, sent: '' }, rounded(tookMs), { received: '', error: reason });
  }

  /** What is over and was not told yet. */
  *finished(): Iterable<Frame> {
    const trace = this.#unsent;
    if (trace.length === 0) return;
    this.#unsent = [];
    const custom_content: ResponseCustomContent & { trace: readonly TraceItem[] } = { trace };
    yield Frame.ofChunks(new Reply(this.run).chunk({ custom_content }));
  }

  #noteContext({ strategy, wasRefused, tokens, clearedResults, summarizedMessages, fault }: ContextChange): void {
    const sent = { tokens: tokens.before, most: tokens.most, refused: wasRefused };
    const received = { tokens: tokens.after, cleared_results: clearedResults, summarized_messages: summarizedMessages };
    const end = { received: this.#text.ofJson(received), ...(fault !== undefined && { error: fault }) };
    this.#end(this.#begin('context', strategy, this.#text.ofJson(sent)), end);
  }

  /** A summary is no turn, and of what it is made from nothing is repeated in the next one. */
  async #ask(run: QuickAppRun, request: ChatRequest, purpose?: 'summary'): Promise<InnerReply> {
    if (purpose === undefined) this.#turn += 1;
    const sent =
      purpose === undefined ? this.#toSent(request) : this.#text.ofJson({ messages_before: 0, messages: request.messages });
    const beginning = this.#begin('model', request.model ?? run.app.model, sent);
    try {
      const reply = await run.askModel(request, purpose);
      return { ...reply, frames: this.#tracedFrames(reply.frames, beginning) };
    } catch (thrown) {
      this.#end(beginning, { received: '', error: toParleyError(thrown).message });
      throw thrown;
    }
  }

  async *#tracedFrames(frames: AsyncIterable<Frame>, beginning: Beginning): AsyncIterable<Frame> {
    const turn = new Turn();
    const usage = new TurnUsage(beginning.name);
    let first_ms: number | undefined;
    let error: string | undefined;
    try {
      for await (const frame of frames) {
        first_ms ??= this.#sinceMs(beginning);
        for (const chunk of frame.chunks) {
          usage.take(chunk);
          turn.take(chunk);
        }
        yield frame;
      }
    } catch (thrown) {
      error = toParleyError(thrown).message;
      throw thrown;
    } finally {
      const items = usage.items();
      const cost_usd = this.#price(usage.pricedItems());
      this.#end(beginning, {
        received: this.#text.ofJson(toReceived(turn)),
        ...(first_ms !== undefined && { first_ms }),
        ...(error !== undefined && { error }),
        ...(items.length > 0 && { usage_per_model: items }),
        ...(cost_usd !== undefined && { cost_usd }),
      });
    }
  }

  #tracedTool(tool: Tool): Tool {
    return { ...tool, run: (args, context) => this.#runTool(tool, args, context) };
  }

  async #runTool(tool: Tool, args: JsonObject, context: ToolContext): Promise<ToolResult> {
    const beginning = this.#begin('tool', tool.name, this.#text.ofJson(args));
    try {
      const result = await tool.run(args, context);
      const { text, failed, question, note } = result;
      const received =
        question === undefined ? { text, failed, ...(note !== undefined && { note }) } : { question: question.message };
      this.#end(beginning, { received: this.#text.ofJson(received) });
      return result;
    } catch (thrown) {
      const { timeoutMs } = this.run.limits;
      const error = reasonOf(thrown, { signal: context.signal, timeoutMs }) ?? withheldReason;
      this.#end(beginning, { received: '', error });
      throw thrown;
    }
  }

  #begin(kind: TraceItem['kind'], name: string, sent: string): Beginning {
    return { kind, turn: this.#turn, name, at_ms: rounded(this.run.clock.nowMs() - this.#startedMs), sent };
  }

  #end(beginning: Beginning, end: Pick<TraceItem, 'received'> & Partial<TraceItem>): void {
    this.#push(beginning, this.#sinceMs(beginning), end);
  }

  #push(beginning: Beginning, duration_ms: number, end: Pick<TraceItem, 'received'> & Partial<TraceItem>): void {
    const error = end.error === undefined ? {} : { error: this.#text.of(end.error) };
    this.#unsent.push({ index: this.#items++, ...beginning, duration_ms, ...end, ...error });
  }

  #sinceMs({ at_ms }: Beginning): number {
    return rounded(this.run.clock.nowMs() - this.#startedMs - at_ms);
  }

  /** Messages and tools that the turn before was sent are not repeated. */
  #toSent({ messages, model: _model, stream: _stream, tools, ...settings }: ChatRequest): string {
    const changed = messages.findIndex((message, at) => message !== this.#messages[at]);
    const messages_before = changed === -1 ? messages.length : changed;
    this.#messages = messages;
    const offered = JSON.stringify(tools ?? []);
    const isSame = offered === this.#tools;
    this.#tools = offered;
    return this.#text.ofJson({
      messages_before,
      messages: messages.slice(messages_before),
      ...(!isSame && { tools: tools ?? [] }),
      ...settings,
    });
  }
}

function toReceived(turn: Turn): JsonObject {
  const { role: _role, tool_calls, ...said } = turn.toMessage();
  return { ...said, ...(turn.calls.length > 0 && { tool_calls }), finish_reason: turn.finishReason };
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Characters of one text inside, of one item's text, and of all of them together. */
const most = { inside: 16_000, item: 64_000, all: 1_000_000 };
/** Files inside a message. */
const mostOfDataUrl = 100;

/** Texts of a trace: without secrets of the application, and cut so that all of them together stay small. */
class TraceText {
  readonly #secrets: readonly string[];
  #charsLeft = most.all;

  constructor(app: QuickApp) {
    this.#secrets = secretsOf(app);
  }

  of(text: string): string {
    return this.#within(shortened(withoutSecrets(text, this.#secrets), most.inside));
  }

  /** JSON; if it would be too long its beginning alone. */
  ofJson(value: unknown): string {
    const text = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'string' ? this.#inside(inner) : inner));
    return this.#within(shortened(text, most.item));
  }

  #inside(text: string): string {
    const longest = text.startsWith('data:') ? mostOfDataUrl : most.inside;
    return shortened(withoutSecrets(text, this.#secrets), longest);
  }

  #within(text: string): string {
    const kept = shortened(text, this.#charsLeft);
    this.#charsLeft = Math.max(0, this.#charsLeft - kept.length);
    return kept;
  }
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}… [${text.length - most} more characters]`;
}

const secretKeys = ['key', 'password', 'token', 'client_secret'];

function secretsOf({ toolsets }: QuickApp): readonly string[] {
  return toolsets.flatMap((toolset) => {
    const authorization = 'authorization' in toolset ? toolset.authorization : null;
    return Object.entries(authorization ?? {}).flatMap(([key, value]) =>
      secretKeys.includes(key) && typeof value === 'string' ? [value] : [],
    );
  });
}
