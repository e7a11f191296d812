import { type JsonObject, toObject } from '#base/json/json.ts';
import { Channel } from '#base/stream/async-items.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Chunk, ResponseCustomContent } from '#contract/chat/chunk.ts';
import type { OfferedControl } from '#contract/chat/completed-control.ts';
import type { CompletedControl } from '#contract/chat/message.ts';
import type { CheckTime } from '#contract/schemas/schema-error.ts';
import type {
  Attachment,
  Citable,
  Tool,
  ToolAnswer,
  ToolContext,
  ToolProgress,
  ToolQuestion,
  ToolResult,
} from '#domain/tools/tool.ts';
import type { UsageCollector } from '#domain/usage/usage.ts';
import type { Citations } from './citations.ts';
import { parseArguments, performTool, toFailure } from './perform-tool.ts';
import { toRemoteCall } from './remote-tools.ts';
import { Renumbering, type Reply } from './reply.ts';
import { type FullResults, toVisibleResult } from './results/full-results.ts';
import { toArgumentsMarkdown, toQuestionMarkdown, toResultMarkdown } from './stages.ts';
import type { ToolMedia } from './tool-media.ts';
import type { Toolset } from './toolset.ts';
import type { ToolCall, ToolMessage } from './turn.ts';

const declineLabel = 'Decline';

/** Options and state that all tool runs of a reply share. */
export interface ToolRunContext {
  readonly reply: Reply;
  readonly toolset: Toolset;
  readonly usage: UsageCollector;
  readonly citations: Citations;
  /** Stores results that the model sees only in part. */
  readonly results: FullResults;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Remaining time for checking the arguments of all calls. */
  readonly checkTime: CheckTime;
  /** Maximum duration of one run in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of bytes of a result in the conversation of the model. */
  readonly maxResultBytes: number;
  /** Called with errors whose message must not be disclosed. */
  readonly onToolError: (tool: string, error: unknown) => void;
  /** Called for each call that was rejected before its tool ran. */
  readonly onRejectedCall?: ((call: RejectedCall) => void) | undefined;
  /** The user's answers to questions of earlier runs, by call ID. Defaults to no answers. */
  readonly userAnswers?: ReadonlyMap<string, ToolAnswer>;
  /** The approval requests that the user granted, by call ID. Defaults to no approvals. */
  readonly approvals?: ReadonlyMap<string, string>;
}

/** A call of an unknown tool, or with invalid arguments. */
export interface RejectedCall {
  readonly name: string;
  readonly args: JsonObject;
  /** The reason that the model receives. */
  readonly reason: string;
}

/** A call that waits for the user's answer. */
export interface PendingQuestion {
  readonly call: ToolCall;
  readonly question: ToolQuestion;
}

/** Outcomes of the calls. Each list has the order of the calls. */
interface ToolOutcomes {
  readonly resultMessages: readonly ToolMessage[];
  /** The attachments of the tools. */
  readonly media: readonly ToolMedia[];
  readonly questions: readonly PendingQuestion[];
}

/** Runs all calls concurrently, each as a stage of the reply. Aborts the runs if the iteration stops early. */
export async function* runTools(calls: readonly ToolCall[], context: ToolRunContext): AsyncGenerator<Chunk, ToolOutcomes> {
  const cancellation = new AbortController();
  const signal = AbortSignal.any([context.signal, cancellation.signal]);
  const chunks = new Channel<Chunk>();
  const outcomes = Promise.all(calls.map((call) => new ToolRun(call, { ...context, signal }, chunks).run()));
  outcomes.catch(() => undefined).finally(() => chunks.end());
  try {
    yield* chunks.readItems();
    const settled = await outcomes;
    const finished = settled.filter((outcome) => 'resultMessage' in outcome);
    return {
      resultMessages: finished.map(({ resultMessage }) => resultMessage),
      media: finished.map(({ media }) => media),
      questions: settled.filter((outcome) => 'question' in outcome),
    };
  } finally {
    cancellation.abort();
  }
}

interface FinishedCall {
  readonly resultMessage: ToolMessage;
  readonly media: ToolMedia;
}

class ToolRun {
  readonly #call: ToolCall;
  readonly #context: ToolRunContext;
  readonly #chunks: Channel<Chunk>;
  readonly #tool: Tool | undefined;
  readonly #stage: number;
  readonly #innerStages: Renumbering;
  readonly #citedAttachments: Attachment[] = [];
  #hasEnded = false;

  constructor(call: ToolCall, context: ToolRunContext, chunks: Channel<Chunk>) {
    this.#call = call;
    this.#context = context;
    this.#chunks = chunks;
    this.#tool = context.toolset.find(call.function.name);
    this.#stage = context.reply.nextStage();
    this.#innerStages = new Renumbering(context.reply);
  }

  async run(): Promise<FinishedCall | PendingQuestion> {
    const { clock } = this.#context;
    const startedMs = clock.nowMs();
    const { name, arguments: argumentsText } = this.#call.function;
    const start = { name: this.#tool?.name ?? name, content: toArgumentsMarkdown(argumentsText), status: null };
    void this.#put({ stages: [{ index: this.#stage, ...start }], ...this.#toRemoteCallContent() });
    const result = await this.#perform();
    this.#hasEnded = true;
    const { question } = result;
    if (question === undefined) return this.#finish(result, clock.nowMs() - startedMs);
    const content = toQuestionMarkdown(question.message);
    await this.#put({ stages: [{ index: this.#stage, content, status: 'completed' }] });
    return { call: this.#call, question };
  }

  async #finish(result: ToolResult, durationMs: number): Promise<FinishedCall> {
    const { maxResultBytes, reply, results } = this.#context;
    const { text, fullAttachments } = toVisibleResult(result, maxResultBytes, results);
    const content = toResultMarkdown(text, result.failed, durationMs);
    const attachments = [...result.attachments, ...this.#citedAttachments, ...fullAttachments].map((attachment, index) => ({
      ...attachment,
      index,
    }));
    const status = result.failed ? ('failed' as const) : ('completed' as const);
    await this.#put({
      stages: [
        ...this.#innerStages.closeStages(status),
        { index: this.#stage, content, ...(attachments.length > 0 && { attachments }), status },
      ],
      ...(result.attachments.length > 0 && { attachments: reply.numberAttachments(result.attachments) }),
      ...this.#toRemoteResultContent(text, result.failed),
    });
    return {
      resultMessage: { role: 'tool', tool_call_id: this.#call.id, content: text },
      media: { tool: this.#call.function.name, attachments: result.attachments },
    };
  }

  async #perform(): Promise<ToolResult> {
    const tool = this.#tool;
    const { args, error } = await parseArguments(this.#call.function.arguments, tool?.parameters, this.#context.checkTime);
    if (tool === undefined || error !== undefined) {
      const reason = error ?? `There is no tool named ${this.#call.function.name}.`;
      this.#context.onRejectedCall?.({ name: this.#call.function.name, args, reason });
      return toFailure(reason);
    }
    return performTool(tool, args, { ...this.#context, createContext: (signal) => this.#createContext(signal) });
  }

  #createContext(signal: AbortSignal): ToolContext {
    const { maxResultBytes, userAnswers } = this.#context;
    return {
      signal,
      report: (progress) => this.#report(progress),
      cite: (citable) => this.#cite(citable),
      answer: userAnswers?.get(this.#call.id),
      maxResultBytes,
    };
  }

  /** Returns the content that announces a call to an MCP server of the request. Empty for other tools. */
  #toRemoteCallContent(): Pick<ResponseCustomContent, 'remote'> {
    const remote = this.#tool?.remote;
    if (remote === undefined) return {};
    const approvalRequest = this.#context.approvals?.get(this.#call.id) ?? null;
    return { remote: [{ kind: 'called', ...toRemoteCall(this.#call, remote), approvalRequest }] };
  }

  #toRemoteResultContent(text: string, failed: boolean): Pick<ResponseCustomContent, 'remote'> {
    if (this.#tool?.remote === undefined) return {};
    const outcome = failed ? { output: null, error: text } : { output: text, error: null };
    return { remote: [{ kind: 'answered', id: this.#call.id, ...outcome }] };
  }

  #cite(citable: Citable): number {
    this.#citedAttachments.push(citable.attachment);
    return this.#context.citations.add(citable);
  }

  async #report({ content, stages = [], usage = [] }: ToolProgress): Promise<void> {
    if (this.#hasEnded) return;
    this.#context.usage.add(usage);
    const ownStages = content ? [{ index: this.#stage, content, status: null }] : [];
    const stageDeltas = [...ownStages, ...this.#innerStages.renumberStages(stages)];
    if (stageDeltas.length > 0) await this.#put({ stages: stageDeltas });
  }

  #put(custom_content: ResponseCustomContent): Promise<void> {
    return this.#chunks.put(this.#context.reply.createChunk({ custom_content }));
  }
}

/** Returns the controls for a tool's question: one to answer, one to decline. */
export function toControls({ label, schema }: ToolQuestion): OfferedControl[] {
  return [{ label, schema }, { label: declineLabel }];
}

/**
 * Parses the user's answer. The value is undefined if the user declined. Returns undefined if the control belongs to another
 * question.
 */
export function parseAnswer(
  { label }: ToolQuestion,
  completed: CompletedControl | undefined,
): { readonly value: JsonObject | undefined } | undefined {
  if (completed?.label === label) return { value: toObject(completed.value) };
  return completed?.label === declineLabel ? { value: undefined } : undefined;
}
