import type { JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import type { InnerReply } from '#domain/calls/call.ts';
import type { QuickApp } from '#domain/quick-app/quick-app.ts';
import type { LoadedTools, ToolsetInstructions } from '#domain/tools/tool.ts';
import { Citations } from '../citations.ts';
import type { ContextChange, ContextOptions } from '../context/context-window.ts';
import { runLoop } from '../loop.ts';
import type { LoopOptions, RunMemory } from '../loop-options.ts';
import { Reply, type ReplyHead, toHandover } from '../reply.ts';
import { truncateText } from '../results/truncate-text.ts';
import { isMediaMessage } from '../tool-media.ts';
import type { ToolCall } from '../turn.ts';
import { type ClientTools, createClientTools } from './client-tools.ts';
import type { Conversation } from './conversation.ts';
import { mapTexts, type OffloadedTexts, parseMarker, type RunState } from './run-state.ts';

/** Options for one run of a quick app. */
export interface QuickAppRun
  extends ReplyHead,
    Pick<LoopOptions, 'request' | 'signal' | 'acceptedMedia' | 'acceptsFormatWithTools' | 'wrapTool' | 'onRejectedCall'> {
  readonly app: QuickApp;
  /** Loaded tools of the app, and toolsets that are missing. */
  readonly tools: LoadedTools;
  readonly conversation: Conversation;
  /** Sends a request to the app's model on behalf of the caller. */
  readonly sendModelRequest: (request: ChatRequest, purpose?: 'summary') => Promise<InnerReply>;
  /** Builds the reply's `custom_content.state`. */
  readonly sealState: (state: RunState) => Promise<JsonObject>;
  /** Options for conversations that exceed the context window of the model. */
  readonly context: Pick<ContextOptions, 'strategy' | 'maxTokens' | 'vocabulary'>;
  readonly onContextChange?: (change: ContextChange) => void;
  readonly limits: { readonly maxTurns: number; readonly timeoutMs: number; readonly maxResultBytes: number };
  readonly onToolError: (tool: string, error: unknown) => void;
}

/** Answers with a quick app (docs/quick-apps.md, How a run works). Continues a run that waits for its client or failed. */
export async function* runQuickApp(input: QuickAppRun): AsyncIterable<Frame> {
  const { conversation } = input;
  const run = conversation.offloadedTexts.length === 0 ? input : { ...input, conversation: await rehydrate(conversation) };
  const { pendingCalls } = run.conversation;
  yield* pendingCalls.length === 0 ? runModel(run) : handOver(run, pendingCalls);
}

function runModel(run: QuickAppRun): AsyncIterable<Frame> {
  const { app, conversation, tools, limits } = run;
  const clientTools = createClientTools(app, run.request);
  const citations = new Citations(conversation.citations, conversation.state?.citations);
  return runLoop({
    ...run,
    ...limits,
    sendRequest: (request) => sendModelRequest(run, request),
    request: toModelRequest(run, clientTools),
    tools: tools.tools,
    missing: conversation.state === undefined ? tools.missing : [],
    model: app.model,
    added: conversation.addedMessages,
    answeredQuestion: conversation.answeredQuestion,
    handoverMode: clientTools.handoverMode,
    citations,
    buildState: (memory) => buildState(run, memory, citations),
    context: toContextOptions(run),
    earlierResults: conversation.fullResults,
  });
}

function toContextOptions(run: QuickAppRun): ContextOptions {
  const { context, conversation, onContextChange } = run;
  return {
    ...context,
    memory: conversation.context,
    sendRequest: (request) => sendModelRequest(run, request, 'summary'),
    ...(onContextChange !== undefined && { onChange: onContextChange }),
  };
}

async function* sendModelRequest(run: QuickAppRun, request: ChatRequest, purpose?: 'summary'): AsyncIterable<Frame> {
  const { frames } = await run.sendModelRequest(request, purpose);
  yield* frames;
}

/** Returns undefined if the run added no messages and no controls, reduced no context, and received no state from the model. */
async function buildState(run: QuickAppRun, memory: RunMemory, citations: Citations): Promise<JsonObject | undefined> {
  const hasAdded = memory.added.length > 0 || memory.controls.length > 0;
  if (!hasAdded && memory.inner === undefined && memory.context === undefined) return undefined;
  const hasEnded = memory.pending.length === 0 && (memory.questions ?? []).length === 0 && !memory.isBroken;
  const { kept: storedResults } = run.conversation.state ?? {};
  return run.sealState({
    ...memory,
    results: {},
    citations: citations.exportCitations(hasEnded),
    ...(storedResults !== undefined && { kept: storedResults }),
  });
}

/**
 * Returns the remaining calls of a batch to the client: one function call per reply, or all tool calls. The model receives the
 * next request when all results are available.
 */
async function* handOver(run: QuickAppRun, waiting: readonly ToolCall[]): AsyncIterable<Frame> {
  const reply = new Reply(run);
  const { state } = run.conversation;
  const { deltas, finishReason } = toHandover(waiting, createClientTools(run.app, run.request).handoverMode);
  yield Frame.ofChunks(
    reply.createChunk({ role: 'assistant' }),
    ...deltas.map((delta) => reply.createChunk(delta)),
    ...(state === undefined ? [] : [reply.createChunk({ custom_content: { state: await run.sealState(state) } })]),
    reply.createChunk({}, finishReason),
  );
}

/**
 * Builds the request for the model. The app sets the instructions, the temperature, and its own tools. The client sets the
 * rest.
 */
function toModelRequest({ app, tools, request, conversation }: QuickAppRun, { offeredTools, choice }: ClientTools): ChatRequest {
  const { functions: _functions, function_call: _call, tools: _tools, tool_choice: _choice, addons: _addons, ...rest } = request;
  const instructionText = appendServerInstructions(app.instructions, tools.instructions ?? []);
  const instructions: Message[] = instructionText === '' ? [] : [{ role: 'system', content: instructionText }];
  return {
    ...rest,
    model: app.model,
    temperature: app.temperature,
    messages: [...instructions, ...conversation.messages],
    stream: true,
    ...(offeredTools.length > 0 && { tools: offeredTools }),
    ...(choice !== undefined && { tool_choice: choice }),
  };
}

/** Maximum number of offloaded characters to read. A note replaces older texts. */
const maxChars = 32 * 1024 * 1024;
/** The note that replaces a deleted text. It is JSON, because it can replace the arguments of a call. */
const deletedTextNote = JSON.stringify({ lost: 'This text was too long for the conversation and is no longer stored.' });

/** Restores the offloaded texts of a conversation. A note replaces deleted texts. Rejects with `StoreError`. */
export async function rehydrate(conversation: Conversation): Promise<Conversation> {
  const texts = await readNewest(conversation.offloadedTexts);
  const toText = (text: string): string => {
    const marker = parseMarker(text);
    return marker === undefined || !texts.has(marker.name) ? text : (texts.get(marker.name)?.[marker.number] ?? deletedTextNote);
  };
  const { messages, addedMessages, citations, state } = conversation;
  return {
    ...conversation,
    messages: removeUnavailableMedia(mapTexts(messages, toText)),
    addedMessages: removeUnavailableMedia(mapTexts(addedMessages, toText)),
    citations: mapTexts(citations, toText),
    state: state && mapTexts({ ...state, beside: undefined }, toText),
  };
}

async function readNewest(
  offloadedTexts: readonly OffloadedTexts[],
): Promise<ReadonlyMap<string, readonly string[] | undefined>> {
  const texts = new Map<string, Promise<readonly string[] | undefined>>();
  let remainingChars = maxChars;
  for (const { name, chars, readTexts } of offloadedTexts.toReversed()) {
    if (texts.has(name)) continue;
    remainingChars -= chars;
    texts.set(name, remainingChars >= 0 ? readTexts() : Promise.resolve(undefined));
  }
  return new Map(await Promise.all([...texts].map(async ([name, pendingTexts]) => [name, await pendingTexts] as const)));
}

/** Removes media messages whose image was deleted. */
function removeUnavailableMedia(messages: readonly Message[]): Message[] {
  const isDeleted = (message: Message): boolean =>
    isMediaMessage(message) && (message.custom_content?.attachments ?? []).some(({ data }) => data === deletedTextNote);
  return messages.filter((message) => !isDeleted(message));
}

const maxServerBytes = 8 * 1024;
/** Minimum number of bytes of truncated instructions. A shorter part is not useful. */
const minBytes = 1024;
const maxBytes = 32 * 1024;

/**
 * Appends the instructions of servers to those of the application, titled with the name of the toolset: at most 8 KiB per
 * server and 32 KiB in total.
 */
function appendServerInstructions(instructions: string, serverInstructions: readonly ToolsetInstructions[]): string {
  const sections = [instructions];
  let remainingBytes = maxBytes;
  for (const { toolset, text } of serverInstructions) {
    const maxSectionBytes = Math.min(maxServerBytes, remainingBytes);
    const truncated = truncateText(text, maxSectionBytes);
    const isComplete = truncated.length === text.length;
    if (!isComplete && maxSectionBytes < minBytes) continue;
    remainingBytes -= Buffer.byteLength(truncated);
    const visibleText = isComplete ? truncated : `${truncated.trimEnd()}\n[The rest is omitted.]`;
    sections.push(`# ${toolset}\n\nInstructions from the server of these tools:\n\n${visibleText}`);
  }
  return sections.filter((section) => section !== '').join('\n\n');
}
