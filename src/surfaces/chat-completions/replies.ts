import type { Chunk } from '#contract/chat/chunk.ts';
import { Accumulator, answerBound, FoldLimit } from '#contract/chat/fold-frames.ts';
import { endEvent, Frame, toEvent } from '#contract/chat/frame.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { ReplySink } from '#domain/calls/call.ts';
import { compatErrorDialect, type ErrorDialect, withNotFoundCode } from '../http/error-dialect.ts';
import { sendJson } from '../http/replies/send-json.ts';
import type { EventWriter } from '../http/replies/streamed-reply.ts';
import type { RequestContext } from '../http/request-context.ts';

/** Fields that every chunk has. They are not moved to another chunk. */
const commonFields: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices']);
/** Maximum total size of the chunks without choices in a reply. */
const maxBufferedBytes = 1024 * 1024;

/** Writes the frames of a reply unchanged. */
export const chunkWriter: EventWriter = {
  begin: ({ replyHeaders: headers }) => ({ headers }),
  toBytes: (frame) => frame.bytes,
  end: () => endEvent,
  toErrorEvent: (error, { errorDialect, id }) => toEvent(errorDialect.toErrorBody(error, id)) + endEvent,
};

/** Error dialect for paths in Azure's format. */
export const azureErrorDialect = withNotFoundCode('DeploymentNotFound');

/**
 * Event writer that sends no chunks without choices, because many clients read `choices[0]` of each chunk. Clients can request
 * such chunks with `stream_options.include_usage`. Moves the content of a chunk without choices to the next chunk. Leaves usage
 * and statistics in their own chunk and adds an empty choice to it: clients that assemble replies ignore everything else in a
 * chunk with usage, even the finish reason.
 */
export class ChoiceChunkWriter implements EventWriter {
  readonly begin = chunkWriter.begin;
  readonly end = chunkWriter.end;
  readonly toErrorEvent = chunkWriter.toErrorEvent;
  /** Index of the last choice of the upstream. */
  #index = 0;
  /** Fields that are added to the next chunk. */
  #fields: object | undefined;
  #bufferedBytes = 0;

  toBytes(frame: Frame): string {
    if (frame.textBytes !== undefined && this.#fields === undefined) return frame.bytes;
    const { chunks, bytes } = frame;
    let out = '';
    for (const chunk of chunks) out += this.#toBytes(chunk, bytes, chunks.length === 1);
    return out;
  }

  /** Returns the bytes for a chunk. `frameBytes` are the bytes of its frame. */
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
    const fields = Object.fromEntries(Object.entries(chunk).filter(([key]) => !commonFields.has(key)));
    if (Object.keys(fields).length === 0) return;
    this.#bufferedBytes += length;
    if (this.#bufferedBytes > maxBufferedBytes)
      throw new ParleyError('upstream_failed', `The reply has more than ${maxBufferedBytes} bytes of chunks without choices.`);
    this.#fields = { ...this.#fields, ...fields };
  }
}

/** Sends a reply as one JSON document, assembled from its chunks. A complete reply is forwarded unchanged. */
export class JsonReply implements ReplySink {
  readonly #context: RequestContext;
  #completion: Frame | undefined;
  #folded: Accumulator | undefined;
  readonly #budget = new FoldLimit(answerBound);

  constructor(context: RequestContext) {
    this.#context = context;
  }

  /** Throws `upstream_failed` if the reply is too large or its chunks cannot be assembled. */
  push(frame: Frame): void {
    if (this.#completion === undefined && this.#folded === undefined && frame.completion !== undefined) {
      this.#completion = frame;
      return;
    }
    this.#budget.consume(frame);
    this.#folded ??= startFold(this.#completion);
    for (const chunk of frame.chunks) this.#folded.add(chunk);
  }

  end(): void {
    const { response, replyHeaders } = this.#context;
    const completion = this.#folded === undefined ? this.#completion : Frame.ofCompletion(this.#folded.getCompletion());
    sendJson(response, 200, completion?.bytes ?? '', replyHeaders);
  }

  fail(error: unknown): void {
    this.#context.sendError(error);
  }
}

function startFold(frame: Frame | undefined): Accumulator {
  const folded = new Accumulator();
  for (const chunk of frame?.chunks ?? []) folded.add(chunk);
  return folded;
}

/**
 * Returns a function that selects the error dialect of a path. Paths such as `/{prefix}/deployments/…` use Azure's dialect.
 */
export function createErrorDialectSelector(prefixes: readonly string[]): (path: string) => ErrorDialect {
  const isAzure = (path: string): boolean => prefixes.some((prefix) => path.startsWith(`/${prefix}/deployments/`));
  return (path) => (isAzure(path) ? azureErrorDialect : compatErrorDialect);
}
