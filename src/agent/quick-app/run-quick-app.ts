import type { JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import type { InnerReply } from '#domain/call.ts';
import type { QuickApp } from '#domain/quick-app/quick-app.ts';
import type { LoadedTools, Tool, ToolsetInstructions } from '#domain/tools/tool.ts';
import { Citations } from '../citations.ts';
import type { ContextChange, ContextOptions } from '../context/context-window.ts';
import { runLoop } from '../loop.ts';
import { Reply, type ReplyHead, toHandedOut } from '../reply.ts';
import { cutText } from '../results/cut-text.ts';
import type { RunMemory } from '../run-memory.ts';
import { type AcceptedMedia, isMediaMessage } from '../shown-media.ts';
import type { RefusedCall } from '../tool-run.ts';
import type { ToolCall } from '../turn.ts';
import { type CallersTools, toCallersTools } from './callers-tools.ts';
import type { Conversation } from './conversation.ts';
import { fromMark, mapTexts, type OffloadedTexts } from './offloaded-texts.ts';
import type { RunState } from './run-state.ts';

/** One run of a quick app. */
export interface QuickAppRun extends ReplyHead {
  readonly app: QuickApp;
  /** Its tools, with what of them could not be had. */
  readonly tools: LoadedTools;
  readonly request: ChatRequest;
  readonly conversation: Conversation;
  /** Asks the app's model on behalf of the caller. */
  readonly askModel: (request: ChatRequest, purpose?: 'summary') => Promise<InnerReply>;
  /** Makes the reply's `custom_content.state`. */
  readonly toState: (state: RunState) => Promise<JsonObject>;
  /** What its model can be shown that tools gave; absent: text alone. */
  readonly takes?: AcceptedMedia | undefined;
  /** Whether its model can be asked for an answer of a schema and be offered tools at once; absent: it can. */
  readonly takesFormatWithTools?: boolean | undefined;
  /** What is done if the conversation is longer than the model takes. */
  readonly context: Pick<ContextOptions, 'strategy' | 'maxTokens' | 'vocabulary'>;
  readonly onContextChange?: (change: ContextChange) => void;
  /** Called with tools that the run has of its own, for one that is run in its place. */
  readonly watchTool?: (tool: Tool) => Tool;
  readonly signal: AbortSignal;
  readonly limits: { readonly maxTurns: number; readonly timeoutMs: number; readonly maxResultBytes: number };
  readonly onToolFault: (tool: string, thrown: unknown) => void;
  /** Called with calls that no tool was run for. */
  readonly onRefusedCall?: (call: RefusedCall) => void;
}

/** Answers with a quick app (docs/quick-apps.md, How a run works): goes on where the conversation stands. */
export async function* runQuickApp(given: QuickAppRun): AsyncIterable<Frame> {
  const { conversation } = given;
  const run = conversation.offloaded.length === 0 ? given : { ...given, conversation: await rehydrate(conversation) };
  const { waiting } = run.conversation;
  yield* waiting.length === 0 ? runModel(run) : handOut(run, waiting);
}

function runModel(run: QuickAppRun): AsyncIterable<Frame> {
  const { app, conversation, tools, limits } = run;
  const callersTools = toCallersTools(app, run.request);
  const citations = new Citations(conversation.citations, conversation.state?.citations);
  return runLoop({
    ask: (request) => askModel(run, request),
    request: toModelRequest(run, callersTools),
    tools: tools.tools,
    missing: conversation.state === undefined ? tools.missing : [],
    model: app.model,
    deployment: run.deployment,
    id: run.id,
    clock: run.clock,
    signal: run.signal,
    ...limits,
    added: conversation.added,
    answered: conversation.answered,
    handsOut: callersTools.handsOut,
    takes: run.takes,
    citations,
    toState: (memory) => toState(run, memory, citations),
    takesFormatWithTools: run.takesFormatWithTools,
    context: toContextOptions(run),
    earlierResults: conversation.wholeResults,
    watchTool: run.watchTool,
    onToolFault: run.onToolFault,
    onRefusedCall: run.onRefusedCall,
  });
}

function toContextOptions(run: QuickAppRun): ContextOptions {
  const { context, conversation, onContextChange } = run;
  return {
    ...context,
    memory: conversation.context,
    ask: (request) => askModel(run, request, 'summary'),
    ...(onContextChange !== undefined && { onChange: onContextChange }),
  };
}

async function* askModel(run: QuickAppRun, request: ChatRequest, purpose?: 'summary'): AsyncIterable<Frame> {
  const { frames } = await run.askModel(request, purpose);
  yield* frames;
}

/** Nothing is to be remembered of a reply without tools, controls and a state of the model's own. */
async function toState(run: QuickAppRun, memory: RunMemory, citations: Citations): Promise<JsonObject | undefined> {
  const hasAdded = memory.added.length > 0 || memory.controls.length > 0;
  if (!hasAdded && memory.inner === undefined && memory.context === undefined) return undefined;
  const isOver = memory.pending.length === 0 && (memory.questions ?? []).length === 0 && !memory.isBroken;
  const { kept } = run.conversation.state ?? {};
  return run.toState({ ...memory, results: {}, citations: citations.toRemember(isOver), ...(kept !== undefined && { kept }) });
}

/** Hands out what is left of a batch: one function call with each reply, or all tool calls. The model is asked when all results are there. */
async function* handOut(run: QuickAppRun, waiting: readonly ToolCall[]): AsyncIterable<Frame> {
  const reply = new Reply(run);
  const { state } = run.conversation;
  const { deltas, finishReason } = toHandedOut(waiting, toCallersTools(run.app, run.request).handsOut);
  yield Frame.ofChunks(
    reply.chunk({ role: 'assistant' }),
    ...deltas.map((delta) => reply.chunk(delta)),
    ...(state === undefined ? [] : [reply.chunk({ custom_content: { state: await run.toState(state) } })]),
    reply.chunk({}, finishReason),
  );
}

/** What the model is asked: the app decides on instructions, temperature and its own tools, the caller on the rest. */
function toModelRequest({ app, tools, request, conversation }: QuickAppRun, { offered, choice }: CallersTools): ChatRequest {
  const { functions: _functions, function_call: _call, tools: _tools, tool_choice: _choice, addons: _addons, ...rest } = request;
  const told = withServersWords(app.instructions, tools.instructions ?? []);
  const instructions: Message[] = told === '' ? [] : [{ role: 'system', content: told }];
  return {
    ...rest,
    model: app.model,
    temperature: app.temperature,
    messages: [...instructions, ...conversation.messages],
    stream: true,
    ...(offered.length > 0 && { tools: offered }),
    ...(choice !== undefined && { tool_choice: choice }),
  };
}

/** The newest of them; older ones are shown as lost. */
const mostChars = 32 * 1024 * 1024;
/** JSON, since it may stand where arguments of a call stood. */
const lost = JSON.stringify({ lost: 'What stood here was too long to be sent to and fro, and is not kept any more.' });

/** The conversation for the model, with all texts in their places; texts that are gone are shown as lost. Rejects with StoreFault. */
export async function rehydrate(conversation: Conversation): Promise<Conversation> {
  const texts = await readNewest(conversation.offloaded);
  const toText = (text: string): string => {
    const mark = fromMark(text);
    return mark === undefined || !texts.has(mark.name) ? text : (texts.get(mark.name)?.[mark.number] ?? lost);
  };
  const { messages, added, citations, state } = conversation;
  return {
    ...conversation,
    messages: withoutLostMedia(mapTexts(messages, toText)),
    added: withoutLostMedia(mapTexts(added, toText)),
    citations: mapTexts(citations, toText),
    state: state && { ...mapTexts({ ...state, beside: undefined }, toText), beside: undefined },
  };
}

async function readNewest(all: readonly OffloadedTexts[]): Promise<ReadonlyMap<string, readonly string[] | undefined>> {
  const texts = new Map<string, Promise<readonly string[] | undefined>>();
  let room = mostChars;
  for (const { name, chars, read } of all.toReversed()) {
    if (texts.has(name)) continue;
    room -= chars;
    texts.set(name, room >= 0 ? read() : Promise.resolve(undefined));
  }
  return new Map(await Promise.all([...texts].map(async ([name, reading]) => [name, await reading] as const)));
}

/** An image that is gone cannot be shown. */
function withoutLostMedia(messages: readonly Message[]): Message[] {
  const isLost = (message: Message): boolean =>
    isMediaMessage(message) && (message.custom_content?.attachments ?? []).some(({ data }) => data === lost);
  return messages.filter((message) => !isLost(message));
}

const maxServerBytes = 8 * 1024;
/** A shorter part says nothing. */
const leastBytes = 1024;
const maxBytes = 32 * 1024;

/** The instructions of an application, and behind them what servers say of their tools, each under the name of its toolset; 8 KiB of a server at most, 32 KiB of all. */
function withServersWords(instructions: string, words: readonly ToolsetInstructions[]): string {
  const sections = [instructions];
  let leftBytes = maxBytes;
  for (const { toolset, text } of words) {
    const roomBytes = Math.min(maxServerBytes, leftBytes);
    const kept = cutText(text, roomBytes);
    const isWhole = kept.length === text.length;
    if (!isWhole && roomBytes < leastBytes) continue;
    leftBytes -= Buffer.byteLength(kept);
    const shown = isWhole ? kept : `${kept.trimEnd()}\n[The rest was left out.]`;
    sections.push(`# ${toolset}\n\nThe server of these tools says of them:\n\n${shown}`);
  }
  return sections.filter((section) => section !== '').join('\n\n');
}
