import { isJsonObject, toObject } from '#base/json/json.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { RawChunk, Usage } from '#contract/chat/chunk.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import { FunctionCallReply, toToolsRequest, usesFunctions } from '#contract/chat/function-calling.ts';
import { isInstruction } from '#contract/chat/message.ts';
import { type ChatProtocol, hasJsonMode } from '#domain/upstreams/upstream.ts';
import { sumCounts, toCount } from '#domain/usage/usage.ts';
import { NormalizedCalls } from './normalized-calls.ts';

/** Adds support for several choices to a protocol without `n`. */
export function withChoices(protocol: ChatProtocol): ChatProtocol {
  if (protocol.supportsSeveralChoices) return protocol;
  return {
    ...protocol,
    supportsSeveralChoices: true,
    chat(attempt, reply) {
      const { n = 1, ...request } = attempt.request;
      return n === 1
        ? protocol.chat(attempt, reply)
        : fanOut(n, (choice) => protocol.chat({ ...attempt, request }, choice), reply);
    },
  };
}

/**
 * Runs `n` replies concurrently and merges them under their own `choices[].index`, with the sum of their usage. If one fails,
 * all are canceled. Frames are held back until each reply has started. An earlier failure is therefore handled like that of a
 * single reply, and another upstream may be tried.
 */
export function fanOut(n: number, start: (choice: Sink<RawFrame>) => Handle, sink: Sink<RawFrame>): Handle {
  const merged = new MergedReplies(n, sink);
  merged.start(start);
  return merged;
}

class MergedReplies implements Handle {
  readonly #sink: Sink<RawFrame>;
  readonly #choices: readonly Choice[];
  /** Frames that arrived before every reply had started. */
  #earlyFrames: RawFrame[] | undefined = [];
  /** ID and time of the first reply, which all chunks carry. */
  #head: Pick<RawChunk, 'id' | 'created'> | undefined;
  #last: RawChunk | undefined;
  #hasEnded = false;
  /** Whether the sink has paused the replies. */
  #isPaused = false;

  constructor(n: number, sink: Sink<RawFrame>) {
    this.#sink = sink;
    this.#choices = Array.from({ length: n }, (_, index) => new Choice(index, this));
  }

  /** Starts all replies. If one cannot be started, cancels the started replies and rethrows the error. */
  start(start: (choice: Sink<RawFrame>) => Handle): void {
    try {
      for (const choice of this.#choices) {
        if (this.#hasEnded) return;
        choice.handle = start(choice);
      }
    } catch (error) {
      this.cancel();
      throw error;
    }
  }

  onFrame(choice: Choice, frame: RawFrame): void {
    if (this.#hasEnded) return;
    const chunks = frame.chunks.flatMap((chunk) => this.#renumber(choice, chunk));
    this.#last = frame.chunks.at(-1) ?? this.#last;
    if (chunks.length > 0) this.#forward(Frame.ofRawChunks(...chunks));
    this.#recordStarted(choice);
  }

  onEnd(choice: Choice): void {
    if (this.#hasEnded) return;
    choice.hasEnded = true;
    this.#recordStarted(choice);
    if (!this.#choices.every(({ hasEnded }) => hasEnded)) return;
    this.#hasEnded = true;
    const usages = this.#choices.flatMap(({ usage }) => (usage === undefined ? [] : [usage]));
    if (this.#last !== undefined && usages.length > 0)
      this.#sink.push(Frame.ofRawChunks({ ...this.#last, ...this.#head, choices: [], usage: sumUsages(usages) }));
    this.#sink.end();
  }

  onFail(error: unknown): void {
    if (this.#hasEnded) return;
    this.cancel();
    this.#sink.fail(error);
  }

  pause(): void {
    this.#isPaused = true;
    for (const { handle } of this.#choices) handle?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const { handle } of this.#choices) handle?.resume();
  }

  cancel(): void {
    this.#hasEnded = true;
    for (const { handle } of this.#choices) handle?.cancel();
  }

  #forward(frame: RawFrame): void {
    if (this.#earlyFrames === undefined) this.#sink.push(frame);
    else this.#earlyFrames.push(frame);
  }

  /** Pauses a started reply until all replies have started. */
  #recordStarted(choice: Choice): void {
    const earlyFrames = this.#earlyFrames;
    if (earlyFrames === undefined) return;
    choice.hasStarted = true;
    choice.handle?.pause();
    if (!this.#choices.every(({ hasStarted }) => hasStarted)) return;
    this.#earlyFrames = undefined;
    for (const frame of earlyFrames) this.#sink.push(frame);
    if (!this.#hasEnded && !this.#isPaused) this.resume();
  }

  #renumber(choice: Choice, { usage, ...chunk }: RawChunk): RawChunk[] {
    const { index } = choice;
    if (isJsonObject(usage)) choice.usage = usage as Usage;
    this.#head ??= { id: chunk.id, created: chunk.created };
    const choices = chunk.choices.map((item) => ({ ...item, index }));
    return choices.length === 0 ? [] : [{ ...chunk, ...this.#head, choices }];
  }
}

/** One of the replies. Its usage is stored until all replies have ended. */
class Choice implements Sink<RawFrame> {
  readonly index: number;
  readonly #replies: MergedReplies;
  handle: Handle | undefined;
  usage: Usage | undefined;
  hasStarted = false;
  hasEnded = false;

  constructor(index: number, replies: MergedReplies) {
    this.index = index;
    this.#replies = replies;
  }

  push(frame: RawFrame): void {
    this.#replies.onFrame(this, frame);
  }

  end(): void {
    this.#replies.onEnd(this);
  }

  fail(error: unknown): void {
    this.#replies.onFail(error);
  }
}

/** Sums the usage, including cached and reasoning tokens, which have their own prices. */
function sumUsages(usages: readonly Usage[]): Usage {
  const sum: Usage = { ...sumCounts(usages) };
  for (const key of ['prompt_tokens_details', 'completion_tokens_details']) {
    const details: Record<string, number> = {};
    for (const usage of usages) {
      for (const [name, value] of Object.entries(toObject(usage[key]))) details[name] = (details[name] ?? 0) + toCount(value);
    }
    if (Object.keys(details).length > 0) sum[key] = details;
  }
  return sum;
}

/** Adds support for `functions` to a protocol that only has `tools`. `newId` returns a random ID. */
export function withFunctions(protocol: ChatProtocol, newId: () => string): ChatProtocol {
  return {
    ...protocol,
    chat(attempt, reply) {
      if (!usesFunctions(attempt.request)) return protocol.chat(attempt, reply);
      return sendWithTools(attempt.request, { reply, newId }, (request, toolReply) =>
        protocol.chat({ ...attempt, request }, toolReply),
      );
    },
  };
}

interface ReplyOptions {
  readonly reply: Sink<RawFrame>;
  readonly newId: () => string;
}

/** Sends a request with `functions` as a request with `tools`. Converts the tool calls of the reply to function calls. */
export function sendWithTools(
  request: ChatRequest,
  { reply, newId }: ReplyOptions,
  send: (request: ChatRequest, reply: Sink<RawFrame>) => Handle,
): Handle {
  if (!usesFunctions(request)) return send(request, reply);
  return send(toToolsRequest(request), new NormalizedCalls({ newId, messages: request.messages }, toFunctionCallSink(reply)));
}

/** Converts the tool calls of a reply to function calls. */
function toFunctionCallSink(next: Sink<RawFrame>): Sink<Frame> {
  const converter = new FunctionCallReply();
  return {
    push: (frame) => next.push(Frame.ofChunks(...frame.chunks.map((chunk) => converter.toFunctionCall(chunk)))),
    end: () => next.end(),
    fail: (error) => next.fail(error),
  };
}

const instruction = 'Answer with one JSON object and nothing else: no words before or after it, and no code fence around it.';

/** Adds an instruction for `response_format` to requests for upstreams without a JSON mode. */
export function withJsonMode(protocol: ChatProtocol): ChatProtocol {
  return {
    ...protocol,
    chat(attempt, reply) {
      const { request, upstream } = attempt;
      const needsInstruction = requestsJson(request) && !hasJsonMode(upstream);
      return protocol.chat(needsInstruction ? { ...attempt, request: addInstruction(request) } : attempt, reply);
    },
  };
}

/** Returns whether the request requires JSON without a schema. The protocols handle requests with a schema. */
function requestsJson({ response_format: format }: ChatRequest): boolean {
  return isJsonObject(format) && format.type === 'json_object';
}

/** Adds the instruction after the existing ones, because prompt caches depend on the start of the prompt. */
function addInstruction({ response_format: _format, ...request }: ChatRequest): ChatRequest {
  const { messages } = request;
  const first = messages.findIndex((message) => !isInstruction(message));
  const index = first === -1 ? messages.length : first;
  return {
    ...request,
    messages: [...messages.slice(0, index), { role: 'system', content: instruction }, ...messages.slice(index)],
  };
}
