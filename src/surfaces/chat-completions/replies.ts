import type { Chunk } from '#contract/chat/chunk.ts';
import { Accumulator, answerBound, FoldRoom } from '#contract/chat/fold-frames.ts';
import { Frame, toEvent } from '#contract/chat/frame.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { ReplySink } from '#domain/call.ts';
import { compatErrorDialect, type ErrorDialect, withNotFound } from '../http/error-dialect.ts';
import { sendJson } from '../http/replies/send-json.ts';
import type { EventWriter } from '../http/replies/streamed-reply.ts';
import type { RequestContext } from '../http/request-context.ts';

const endMark = 'data: [DONE]\n\n';
/** What every chunk of a reply has. */
const common: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices']);
/** Of what chunks without choices bring. */
const maxBufferedBytes = 1024 * 1024;

/** Events of the compat wire: frames byte for byte. */
export const compatEvents: EventWriter = {
  begin: ({ replyHeaders: headers }) => ({ headers }),
  toBytes: (frame) => frame.bytes,
  end: () => endMark,
  toErrorEvent: (error, { errorDialect, id }) => toEvent(errorDialect.toErrorBody(error, id)) + endMark,
};

/** On paths that name the deployment as Azure's do, as Azure says it. */
export const azureErrorDialect = withNotFound('DeploymentNotFound');

/**
 * Events of the compat wire for callers who did not ask for a chunk without choices: many of them read `choices[0]` of
 * each. What such a chunk of the upstream brings rides on the next one. Usage and statistics come on a last chunk with a choice
 * that says nothing: clients that put replies together take nothing more from a chunk with usage, not even a finish reason.
 */
export class EventsWithChoices implements EventWriter {
  readonly begin = compatEvents.begin;
  readonly end = compatEvents.end;
  readonly toErrorEvent = compatEvents.toErrorEvent;
  /** Of the last choice that said something. */
  #index = 0;
  /** What waits for the next chunk. */
  #fields: object | undefined;
  #bufferedBytes = 0;

  toBytes(frame: Frame): string {
    if (frame.textBytes !== undefined && this.#fields === undefined) return frame.bytes;
    const { chunks, bytes } = frame;
    let out = '';
    for (const chunk of chunks) out += this.#toBytes(chunk, bytes, chunks.length === 1);
    return out;
  }

  /** What goes out for a chunk, in a frame of those bytes. */
  #toBytes(rawChunk: Chunk, frameBytes: string, isAlone: boolean): string {
    const [choice] = rawChunk.choices;
    if (choice === undefined && !rawChunk.usage && !rawChunk.statistics) {
      this.#bufferChunk(rawChunk, frameBytes.length);
      return '';
    }
    this.#index = choice?.index ?? this.#index;
    if (choice !== undefined && this.#fields === undefined) return isAlone ? frameBytes : toEvent(rawChunk);
    const choices = choice === undefined ? [{ index: this.#index, delta: {}, finish_reason: null }] : rawChunk.choices;
    const chunk = { ...this.#fields, ...rawChunk, choices };
    this.#fields = undefined;
    return toEvent(chunk);
  }

  #bufferChunk(chunk: Chunk, length: number): void {
    const fields = Object.fromEntries(Object.entries(chunk).filter(([key]) => !common.has(key)));
    if (Object.keys(fields).length === 0) return;
    this.#bufferedBytes += length;
    if (this.#bufferedBytes > maxBufferedBytes)
      throw new ParleyError('upstream_failed', `The answer has more than ${maxBufferedBytes} bytes beside its choices.`);
    this.#fields = { ...this.#fields, ...fields };
  }
}

/** Sends a reply as one JSON text: its chunks folded. A reply that came whole passes with its bytes. */
export class JsonReply implements ReplySink {
  readonly #context: RequestContext;
  #completion: Frame | undefined;
  #folded: Accumulator | undefined;
  readonly #budget = new FoldRoom(answerBound);

  constructor(context: RequestContext) {
    this.#context = context;
  }

  /** Throws upstream_failed for a reply that is too large, or cannot be folded. */
  frame(frame: Frame): void {
    if (this.#completion === undefined && this.#folded === undefined && frame.completion !== undefined) {
      this.#completion = frame;
      return;
    }
    this.#budget.consume(frame);
    this.#folded ??= startedWith(this.#completion);
    for (const chunk of frame.chunks) this.#folded.add(chunk);
  }

  end(): void {
    const { response, replyHeaders } = this.#context;
    const completion = this.#folded === undefined ? this.#completion : Frame.ofCompletion(this.#folded.completion());
    sendJson(response, 200, completion?.bytes ?? '', replyHeaders);
  }

  fail(error: unknown): void {
    this.#context.sendError(error);
  }
}

function startedWith(frame: Frame | undefined): Accumulator {
  const folded = new Accumulator();
  for (const chunk of frame?.chunks ?? []) folded.add(chunk);
  return folded;
}

/** How whoever asks for a path is spoken to, if paths below these prefixes name deployments as Azure's do. */
export function compatErrorDialectAt(prefixes: readonly string[]): (path: string) => ErrorDialect {
  const isAzure = (path: string): boolean => prefixes.some((prefix) => path.startsWith(`/${prefix}/deployments/`));
  return (path) => (isAzure(path) ? azureErrorDialect : compatErrorDialect);
}
