import { isJsonObject } from '#base/json/json.ts';
import type { Sink } from '#base/stream/sink.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import {
  type Chunk,
  type ChunkChoice,
  type Completion,
  type Delta,
  type RawChunk,
  type RawCompletion,
  type ResponseCustomContent,
  toChunk,
} from '#contract/chat/chunk.ts';
import { Frame, type Native, type RawFrame } from '#contract/chat/frame.ts';
import { getIdentity, type ReplyIdentity, toWellFormedChunk, toWellFormedCompletion } from '#contract/chat/well-formed.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { countReplyChars } from '#domain/usage/usage.ts';
import { type CallContext, ReplyCalls } from '#upstreams/reply-calls.ts';
import { createSizeError, numberByPosition, ReplyContent } from './reply-content.ts';
import type { UsageTotals } from './usage-totals.ts';

/** Maximum bytes that are held back until the first choice. */
const maxEarlyBytes = 1024 * 1024;
/** Maximum number of choices in one reply. */
const maxChoices = 10_000;
/** Maximum characters of a tool name in an error message. */
const maxNameChars = 64;

/** Facts about a reply that are known before it starts. */
export interface ReplyFacts extends CallContext {
  /** Defaults for the ID, time, and model, which an upstream may omit. */
  readonly identity: ReplyIdentity;
  readonly totals: UsageTotals;
  readonly isStreamed: boolean;
}

/**
 * Normalizes a reply for the wire: a role first, one finish reason for each choice, then `usage` and `statistics` once, in a
 * last chunk without choices. Events that need no change keep their bytes.
 */
export class NormalizedReply implements Sink<RawFrame> {
  readonly #next: Sink<Frame>;
  readonly #isStreamed: boolean;
  readonly #totals: UsageTotals;
  #identity: ReplyIdentity;
  /** Whether a choice or a relayed frame has arrived. */
  hasStarted = false;
  /** Frames that are held back until the first choice arrives, because the role goes first and all chunks have the same ID. */
  #early: RawFrame[] = [];
  #earlyBytes = 0;
  #isComplete = false;
  /** Whether the reply has more than a role and thoughts. */
  #hasAnswer = false;
  /** Whether the reply goes out in another dialect, unchanged from the upstream. */
  #isRelayed = false;
  /** Whether a choice is finished, by its index. */
  readonly #isFinishedByChoice = new Map<number, boolean>();
  readonly #callFacts: CallContext;
  /** Created for the first call or finish reason. */
  #calls: ReplyCalls | undefined;
  /** Created for the first `custom_content`. */
  #content: ReplyContent | undefined;

  constructor({ identity, totals, isStreamed, ...callFacts }: ReplyFacts, next: Sink<Frame>) {
    this.#next = next;
    this.#isStreamed = isStreamed;
    this.#totals = totals;
    this.#identity = identity;
    this.#callFacts = callFacts;
  }

  /** Throws `UpstreamError` if the frame cannot be normalized, and rethrows errors of the next sink. */
  push(frame: RawFrame): void {
    if (frame.native !== undefined) return this.#relay(frame, frame.native);
    if (frame.textBytes !== undefined && this.hasStarted) {
      this.#totals.addChars(frame.textBytes);
      this.#hasAnswer = true;
      return this.#next.push(frame as Frame);
    }
    const { completion } = frame;
    if (!this.hasStarted && !hasChoices(frame)) return this.#hold(frame);
    const output = completion === undefined ? this.#normalizeChunks(frame) : this.#normalizeCompletion(frame, completion);
    if (output !== undefined) this.#next.push(output);
    if (this.#early.length > 0) for (const early of this.#releaseEarly()) this.#next.push(this.#withIdentity(early));
  }

  /** Pushes the missing finish reasons and the totals, then the end. Called if the upstream ended without an error. */
  end(): void {
    if (this.#isRelayed) this.#passEarly();
    else if (this.#isStreamed || !this.#isComplete) {
      this.#requireAnswer();
      const closing: Chunk[] = [];
      const choices: ChunkChoice[] = [];
      for (const [index, isFinished] of this.#isFinishedByChoice)
        if (!isFinished) choices.push({ index, delta: {}, finish_reason: this.#calls?.getEndReason(index) ?? 'stop' });
      if (this.#content?.hasOpenStages) closing.push(...this.#closeOpenStages(this.#content, 'completed'));
      if (choices.length > 0) closing.push(this.#createChunk({ choices }));
      closing.push(this.#createChunk({ ...this.#totals.getTotals() }));
      this.#next.push(Frame.ofChunks(...closing));
    }
    this.#next.end();
  }

  /** Closes the open stages as failed, and then passes the error on. */
  fail(error: unknown): void {
    if (this.#isRelayed) this.#passEarly();
    else if (this.#content?.hasOpenStages) this.#failStages(this.#content);
    this.#next.fail(error);
  }

  /** Throws `UpstreamError` if the reply has nothing but calls that the request does not allow. */
  #requireAnswer(): void {
    const name = this.#calls?.suppressedName;
    if (name === undefined || this.#hasAnswer) return;
    const tool = JSON.stringify(name.slice(0, maxNameChars));
    throw new UpstreamError('broken', `The model called the tool ${tool}, which tool_choice of the request does not allow.`);
  }

  #hold(frame: RawFrame): void {
    if (frame.completion !== undefined) return;
    const heldChunks = frame.chunks.filter((chunk) => this.#recordEarly(chunk));
    if (heldChunks.length === 0) return;
    this.#early.push(heldChunks.length === frame.chunks.length ? frame : Frame.ofRawChunks(...heldChunks));
    this.#earlyBytes += frame.roughBytes;
    if (this.#earlyBytes > maxEarlyBytes) throw createSizeError(`${maxEarlyBytes} bytes before the first choice`);
  }

  /** Records the totals and the identity of a chunk. Returns whether it has more than totals. */
  #recordEarly(chunk: RawChunk): boolean {
    this.#totals.record(chunk);
    this.#identity = getIdentity(chunk, this.#identity);
    return !chunk.usage && !chunk.statistics;
  }

  #releaseEarly(): RawFrame[] {
    const early = this.#early;
    this.#early = [];
    return early;
  }

  #passEarly(): void {
    for (const early of this.#releaseEarly()) this.#next.push(early as Frame);
  }

  /** Reports the open stages as failed. If the next sink throws for this frame, it still receives the error. */
  #failStages(content: ReplyContent): void {
    const failed = Frame.ofChunks(...this.#closeOpenStages(content, 'failed'));
    try {
      this.#next.push(failed);
    } catch {
      // The error follows in any case.
    }
  }

  /** Closes the open stages of one choice or of all choices, each in its own chunk. */
  #closeOpenStages(content: ReplyContent, status: 'completed' | 'failed', choiceIndex?: number): Chunk[] {
    return content.consumeOpenStages(choiceIndex).map(([choice, index]) => {
      const delta: Delta = { custom_content: { stages: [{ index, status }] } };
      return this.#createChunk({ choices: [{ index: choice, delta, finish_reason: null }] });
    });
  }

  /** Relays a frame. The last frame is held back until the reply is counted. */
  #relay(frame: RawFrame, { usage, textBytes, isLast }: Native): void {
    this.hasStarted = true;
    this.#isRelayed = true;
    this.#totals.markPartial();
    this.#totals.addChars(textBytes);
    this.#totals.record({ usage });
    this.#early.push(frame);
    if (!isLast) this.#passEarly();
  }

  /** Sets the identity of the reply in a frame that was held back. */
  #withIdentity(frame: RawFrame): Frame {
    const chunks = frame.chunks.map((chunk) => toWellFormedChunk(chunk, this.#identity));
    return chunks.every((chunk, index) => chunk === frame.chunks[index]) ? (frame as Frame) : Frame.ofChunks(...chunks);
  }

  #normalizeCompletion(frame: RawFrame, original: RawCompletion): Frame | undefined {
    const wellFormed = toWellFormedCompletion(original, this.#identity);
    if (this.#isStreamed) return this.#normalizeChunks(Frame.ofRawChunks(...splitCompletion(wellFormed)));
    const completion = this.#toNormalCompletion(wellFormed);
    this.hasStarted = true;
    this.#isComplete = true;
    this.#totals.record(completion);
    for (const { message } of completion.choices) {
      this.#totals.addChars(countReplyChars(message));
      this.#hasAnswer ||= isAnswer(message);
    }
    this.#requireAnswer();
    const { usage, statistics } = this.#totals.getTotals();
    const complete = { ...completion, usage, statistics };
    const lacksOnlyTotals =
      completion === original && original.statistics === undefined && (original.usage === undefined || original.usage === usage);
    if (!lacksOnlyTotals) return Frame.ofCompletion(complete);
    const totalsJson = toLatin1(JSON.stringify(completion.usage ? { statistics } : { usage, statistics }));
    const { bytes } = frame;
    return Frame.ofCompletion(complete, `${bytes.slice(0, bytes.lastIndexOf('}'))},${totalsJson.slice(1)}`);
  }

  #toNormalCompletion(completion: Completion): Completion {
    const choices = completion.choices.map((choice) => {
      const { tool_calls: calls, function_call: functionCall } = choice.message;
      let normal = choice;
      if (choice.finish_reason !== 'stop' || calls || functionCall) {
        this.#calls ??= new ReplyCalls(this.#callFacts);
        normal = this.#calls.normalizeCompletionChoice(choice);
      }
      const { index, message } = normal;
      if (!isJsonObject(message.custom_content)) return normal;
      const content = this.#toClosedContent(index, numberByPosition(message.custom_content));
      return content === message.custom_content ? normal : { ...normal, message: { ...message, custom_content: content } };
    });
    return choices.every((choice, index) => choice === completion.choices[index]) ? completion : { ...completion, choices };
  }

  /** Adds missing fields to the content of a complete message, and ends its open stages. */
  #toClosedContent(choice: number, original: ResponseCustomContent): ResponseCustomContent {
    this.#content ??= new ReplyContent();
    const content = this.#content.completeContent(choice, original);
    if (!this.#content.hasOpenStages) return content;
    const open = new Set(this.#content.consumeOpenStages(choice).map(([, index]) => index));
    return {
      ...content,
      stages:
        content.stages?.map((stage) =>
          isJsonObject(stage) && open.has(stage.index) ? { ...stage, status: 'completed' } : stage,
        ) ?? [],
    };
  }

  #normalizeChunks(frame: RawFrame): Frame | undefined {
    let isSame = true;
    const output: Chunk[] = [];
    for (const chunk of frame.chunks) {
      const before = output.length;
      this.#normalizeChunk(chunk, output);
      if (output.length !== before + 1 || output[before] !== chunk) isSame = false;
    }
    if (isSame) return frame as Frame;
    return output.length === 0 ? undefined : Frame.ofChunks(...output);
  }

  #normalizeChunk(original: RawChunk, output: Chunk[]): void {
    this.#totals.record(original);
    this.#identity = getIdentity(original, this.#identity);
    const chunk = this.#toNormalChunk(toWellFormedChunk(original, this.#identity));
    const choicesWithoutRole: ChunkChoice[] = [];
    for (const choice of chunk.choices) {
      const { index, delta } = choice;
      if (!this.#isFinishedByChoice.has(index)) {
        if (index < 0 || index >= maxChoices)
          throw new UpstreamError('broken', `The upstream sent a choice with the index ${index}.`);
        this.#isFinishedByChoice.set(index, false);
        if (delta.role !== 'assistant') choicesWithoutRole.push(choice);
      }
      this.#totals.addChars(countReplyChars(delta));
      this.#hasAnswer ||= isAnswer(delta);
    }
    if (choicesWithoutRole.length > 0) output.push(this.#createRoleChunk(choicesWithoutRole));
    if (this.#content?.hasOpenStages) this.#closeEndingStages(this.#content, chunk, output);
    if (chunk.choices.length > 0) this.hasStarted = true;
    const remaining = this.#withoutTotals(chunk);
    if (remaining !== undefined) output.push(remaining);
  }

  /**
   * Returns the chunk with repaired calls, finish reasons, and `custom_content`. Returns the original object if it needs no
   * change.
   */
  #toNormalChunk(chunk: Chunk): Chunk {
    let choices: ChunkChoice[] | undefined;
    for (let index = 0; index < chunk.choices.length; index += 1) {
      const choice = chunk.choices[index] as ChunkChoice;
      const normal = this.#toNormalChoice(choice);
      if (normal === choice) continue;
      choices ??= [...chunk.choices];
      choices[index] = normal;
    }
    return choices === undefined ? chunk : { ...chunk, choices };
  }

  #toNormalChoice(choice: ChunkChoice): ChunkChoice {
    const { index, delta, finish_reason: reason } = choice;
    const { tool_calls: calls, function_call: functionCall, custom_content: content } = delta;
    let normal = choice;
    const keepsFinishReason = reason === null || (reason === 'stop' && this.#calls === undefined);
    if (!keepsFinishReason || calls || functionCall) {
      this.#calls ??= new ReplyCalls(this.#callFacts);
      const isLate = this.#isFinishedByChoice.get(index) === true && this.#calls.getEndReason(index) === 'stop';
      normal = this.#calls.normalizeChoice(choice);
      // If the first call of a choice follows its finish reason, the choice needs another one. `end` adds it if the upstream
      // does not.
      if (isLate && this.#calls.hasCalls(index)) this.#isFinishedByChoice.set(index, false);
    }
    if (!isJsonObject(content)) return normal;
    this.#content ??= new ReplyContent();
    const complete = this.#content.completeContent(index, content);
    return complete === content ? normal : { ...normal, delta: { ...normal.delta, custom_content: complete } };
  }

  /** Completes the stages that are still open when their choice ends, before its finish reason. */
  #closeEndingStages(content: ReplyContent, chunk: Chunk, output: Chunk[]): void {
    for (const { index, finish_reason: reason } of chunk.choices)
      if (reason !== null) output.push(...this.#closeOpenStages(content, 'completed', index));
  }

  /** Returns the chunk without usage, statistics, and repeated finish reasons. Returns undefined if the rest is empty. */
  #withoutTotals(chunk: Chunk): Chunk | undefined {
    let repeated: Set<ChunkChoice> | undefined;
    for (const choice of chunk.choices) {
      const isRepeated = choice.finish_reason !== null && this.#isFinishedByChoice.get(choice.index) === true;
      if (isRepeated) repeated = (repeated ?? new Set()).add(choice);
    }
    const choices = repeated === undefined ? chunk.choices : this.#withoutRepeats(chunk.choices, repeated);
    for (const choice of choices) if (choice.finish_reason) this.#isFinishedByChoice.set(choice.index, true);
    if (repeated === undefined && !chunk.usage && !chunk.statistics) return chunk;
    const { usage: _usage, statistics: _statistics, ...otherFields } = chunk;
    return choices.length === 0 ? undefined : { ...otherFields, choices };
  }

  /** Returns the choices without repeated finish reasons. Omits choices of finished indexes that have no content. */
  #withoutRepeats(choices: readonly ChunkChoice[], repeated: ReadonlySet<ChunkChoice>): ChunkChoice[] {
    const remaining = choices.filter(
      (choice) =>
        !(repeated.has(choice) || choice.finish_reason === null) ||
        !this.#isFinishedByChoice.get(choice.index) ||
        hasContent(choice.delta),
    );
    return remaining.map((choice) => (repeated.has(choice) ? { ...choice, finish_reason: null } : choice));
  }

  #createRoleChunk(choices: readonly ChunkChoice[]): Chunk {
    return this.#createChunk({
      choices: choices.map(({ index }) => ({ index, delta: { role: 'assistant' as const, content: '' }, finish_reason: null })),
    });
  }

  #createChunk(content: Partial<Chunk>): Chunk {
    return { ...this.#identity, object: 'chat.completion.chunk', choices: [], ...content };
  }
}

function isAnswer({ content, refusal, tool_calls: calls, function_call: functionCall, custom_content: custom }: Delta): boolean {
  return Boolean(content || refusal || calls || functionCall || custom);
}

function hasContent(delta: Delta): boolean {
  return Object.values(delta).some((value) => value !== null && value !== '');
}

function hasChoices(frame: RawFrame): boolean {
  const { completion } = frame;
  if (completion !== undefined) return completion.choices.length > 0;
  for (const { choices } of frame.chunks) if (choices.length > 0) return true;
  return false;
}

/** Returns a complete reply as the chunks of a stream: the message, then the finish reasons, then the totals. */
function splitCompletion(completion: Completion): RawChunk[] {
  const { usage, statistics } = completion;
  const { usage: _usage, statistics: _statistics, ...head } = toChunk(completion);
  const withNumbers = (delta: Delta): Delta =>
    isJsonObject(delta.custom_content) ? { ...delta, custom_content: numberByPosition(delta.custom_content) } : delta;
  const message = {
    ...head,
    choices: head.choices.map((choice) => ({ ...choice, delta: withNumbers(choice.delta as Delta), finish_reason: null })),
  };
  const finish = { ...head, choices: head.choices.map(({ index, finish_reason }) => ({ index, delta: {}, finish_reason })) };
  const totals = { ...head, choices: [], ...(usage && { usage }), ...(statistics && { statistics }) };
  return [message, finish, totals];
}
