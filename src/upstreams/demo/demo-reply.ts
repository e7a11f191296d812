import { findText } from '#base/text/find-text.ts';
import { loadTokenizer, type Tokenizer } from '#base/text/tokens.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Chunk, Delta, FinishReason, StageDelta } from '#contract/chat/chunk.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import type { Answer, PlannedCall, Situation, Step } from './answer.ts';
import { toDemoError } from './compare.ts';
import { applyResponseFormat, planAnswer } from './plan-answer.ts';
import { getText, readConversation, readTools, type ToolOffer } from './read-request.ts';
import { countWords, shorten } from './words.ts';

type ChunkPart = Pick<Chunk, 'choices' | 'usage'>;

interface ReplyDeps {
  readonly embedder: Embedder;
  readonly newId: () => string;
}

const readingStage = 'Reading the question';

/** Yields the parts of the reply to a request. Throws `UpstreamError` if the embedder fails. */
export async function* createDemoReply(
  request: ChatRequest,
  { embedder, newId }: ReplyDeps,
  signal: AbortSignal,
): AsyncGenerator<ChunkPart> {
  yield toPart({ role: 'assistant' });
  yield toPart({ custom_content: { stages: [{ index: 0, name: readingStage, status: null }] } });
  const continuation = findContinuation(request);
  const conversation = readConversation(continuation === undefined ? request : { ...request, messages: continuation.messages });
  const situation: Situation = { conversation, offer: readTools(request), compareDeps: { embedder, signal }, steps: [] };
  const { question } = conversation;
  for (const delta of listStageEnd(0, { content: toReport(situation), status: 'completed' })) yield toPart(delta);

  const tokenizer = await loadTokenizer();
  const { form } = situation.offer;
  const plannedAnswer = await planAnswer(situation).catch((error: unknown) => {
    throw toDemoError(error, signal);
  });
  // The demo answers a repeated question with identical text. A continuation therefore removes the text that was already sent.
  const content = applyResponseFormat(plannedAnswer.content, request, question);
  const answer = {
    ...plannedAnswer,
    content:
      continuation !== undefined && content.startsWith(continuation.text) ? content.slice(continuation.text.length) : content,
  };
  const limited = limitReply(answer, { ...readBounds(request), form }, tokenizer);

  for (const [index, step] of situation.steps.entries()) {
    for (const delta of listStageDeltas(index + 1, step)) yield toPart(delta);
  }
  const newCallId = form === 'functions' ? undefined : () => `call_${newId()}`;
  for (const delta of listReplyDeltas(limited, answer, newCallId)) yield toPart(delta);
  yield toPart({}, limited.finish);

  const prompt_tokens = countPrompt(request, tokenizer);
  yield {
    choices: [],
    usage: { prompt_tokens, completion_tokens: limited.tokens, total_tokens: prompt_tokens + limited.tokens },
  };
}

function toPart(delta: Delta, finish_reason: FinishReason | null = null): ChunkPart {
  return { choices: [{ index: 0, delta, finish_reason }] };
}

function toReport({ conversation, offer }: Situation): string {
  const { question, passages, attachments } = conversation;
  if (question === '') return 'There is no question.';
  const counts = `${offer.tools.length} tools, ${passages.length} passages, ${attachments.length} attachments`;
  return `“${shorten(question, 200)}”: ${countWords(question)} words, with ${counts}.`;
}

/** Tokens that OpenAI's models add for each message, and for the reply. */
const tokensPerMessage = 3;
const tokensPerReply = 3;

/** Counts the tokens of a request: its messages, their calls and text attachments, and the offered tools. */
function countPrompt(request: ChatRequest, tokenizer: Tokenizer): number {
  const texts = request.messages.flatMap((message) => [
    message.role,
    getText(message),
    message.name ?? '',
    serialize(message.tool_calls ?? message.function_call),
    serialize(message.custom_content?.completed_control),
    ...(message.custom_content?.attachments ?? []).map(({ data }) => data ?? ''),
  ]);
  const joined = [...texts, serialize(request.tools ?? request.functions)].filter((text) => text !== '').join('\n');
  return tokenizer.count(joined) + request.messages.length * tokensPerMessage + tokensPerReply;
}

function serialize(value: unknown): string {
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** A request to continue a truncated answer. */
interface Continuation {
  /** The conversation up to the question of that answer. */
  readonly messages: ChatRequest['messages'];
  /** The answer so far. */
  readonly text: string;
}

const continuePattern = /\bcut (off|short)\b.{0,80}\b(go on|continue)\b/is;

/** Returns the answer that the last message asks to continue, as the page does. Returns undefined for other messages. */
function findContinuation({ messages }: ChatRequest): Continuation | undefined {
  const [reply, last] = messages.slice(-2);
  if (last?.role !== 'user' || reply?.role !== 'assistant' || !continuePattern.test(getText(last))) return undefined;
  return { messages: messages.slice(0, -2), text: getText(reply) };
}

// Pattern bound: linear. Each run of white space is part of a match.
const wordWithSpace = /\s*\S+|\s+$/g;
const argumentsPiece = /[\s\S]{1,16}/gu;

/** Yields the deltas of one complete stage. */
function* listStageDeltas(index: number, step: Step): Generator<Delta> {
  yield createStageDelta({ index, name: step.name, status: null });
  yield* listStageEnd(index, step);
}

/** Yields the remaining deltas of an open stage. */
function* listStageEnd(index: number, { content, attachments, status }: Omit<Step, 'name'>): Generator<Delta> {
  yield createStageDelta({ index, content, status: null });
  if (attachments !== undefined) yield createStageDelta({ index, attachments: [...attachments], status: null });
  yield createStageDelta({ index, status });
}

/** Yields the message word by word, then its calls, attachments, and controls. */
function* listReplyDeltas(reply: LimitedReply, answer: Answer, newCallId: (() => string) | undefined): Generator<Delta> {
  for (const word of reply.content.match(wordWithSpace) ?? []) yield { content: word };
  if (newCallId === undefined) yield* listFunctionDeltas(reply);
  else yield* listToolDeltas(reply, newCallId);
  const { attachments = [], controls = [] } = answer;
  if (attachments.length > 0) yield { custom_content: { attachments: [...attachments] } };
  if (controls.length === 0) return;
  yield { custom_content: { controls: [...controls] } };
  yield { custom_content: { state: { parley_controls: controls.map(({ label, schema }) => ({ label, schema })) } } };
}

function* listToolDeltas({ calls }: LimitedReply, newCallId: () => string): Generator<Delta> {
  for (const [index, call] of calls.entries()) {
    yield { tool_calls: [{ index, id: newCallId(), type: 'function', function: { name: call.name, arguments: '' } }] };
    for (const piece of call.arguments.match(argumentsPiece) ?? [])
      yield { tool_calls: [{ index, function: { arguments: piece } }] };
  }
}

function* listFunctionDeltas({ calls }: LimitedReply): Generator<Delta> {
  const [call] = calls;
  if (call === undefined) return;
  yield { function_call: { name: call.name, arguments: '' } };
  for (const piece of call.arguments.match(argumentsPiece) ?? []) yield { function_call: { arguments: piece } };
}

function createStageDelta(part: StageDelta): Delta {
  return { custom_content: { stages: [part] } };
}

/** Limits of a reply. */
interface Bounds {
  readonly stop: readonly string[];
  readonly maxTokens: number;
}

interface LimitedReply {
  readonly content: string;
  readonly calls: readonly PlannedCall[];
  readonly finish: FinishReason;
  readonly tokens: number;
}

function readBounds(request: ChatRequest): Bounds {
  const { stop, max_tokens, max_completion_tokens } = request;
  const stopWords = Array.isArray(stop) ? stop : [stop];
  const limit = max_completion_tokens ?? max_tokens;
  return {
    stop: stopWords.filter((word): word is string => typeof word === 'string' && word !== ''),
    maxTokens: typeof limit === 'number' && limit > 0 ? limit : Number.POSITIVE_INFINITY,
  };
}

/** Truncates the answer at a stop sequence or at the token limit. */
function limitReply(answer: Answer, bounds: Bounds & { readonly form: ToolOffer['form'] }, tokenizer: Tokenizer): LimitedReply {
  const content = truncateAtStop(answer.content, bounds.stop);
  const used = tokenizer.count(content);
  if (used > bounds.maxTokens) {
    return { content: tokenizer.truncate(content, bounds.maxTokens), calls: [], finish: 'length', tokens: bounds.maxTokens };
  }
  let remaining = bounds.maxTokens - used;
  let spent = used;
  const calls: PlannedCall[] = [];
  for (const call of answer.calls ?? []) {
    const needed = tokenizer.count(call.name) + tokenizer.count(call.arguments);
    if (needed > remaining) {
      const forArguments = remaining - tokenizer.count(call.name);
      if (forArguments > 0) calls.push({ name: call.name, arguments: tokenizer.truncate(call.arguments, forArguments) });
      return { content, calls, finish: 'length', tokens: bounds.maxTokens };
    }
    calls.push(call);
    remaining -= needed;
    spent += needed;
  }
  if (calls.length === 0) return { content, calls, finish: 'stop', tokens: spent };
  return { content, calls, finish: bounds.form === 'functions' ? 'function_call' : 'tool_calls', tokens: spent };
}

function truncateAtStop(content: string, stop: readonly string[]): string {
  const ends = stop.map((word) => findText(content, word)).filter((index) => index !== -1);
  return content.slice(0, Math.min(content.length, ...ends));
}
