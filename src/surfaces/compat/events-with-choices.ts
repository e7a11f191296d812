import type { Chunk } from '#contract/chunk.ts';
import { ParleyError } from '#contract/errors.ts';
import { type Frame, toEvent } from '#contract/frame.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { EventWriter } from '../http/streamed-reply.ts';
import { compatEvents } from './compat-events.ts';

/** What every chunk of a reply has. */
const common: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices']);
/** Of what chunks without choices bring. */
const maxKeptBytes = 1024 * 1024;

/**
 * Events of the compat wire for callers who did not ask for a chunk without choices: many of them read `choices[0]` of
 * each. What such a chunk brings rides on the one beside it: usage and statistics on the last chunk with a choice, which
 * waits for them from the moment on that every choice has its finish reason.
 */
export class EventsWithChoices implements EventWriter {
  readonly begin = compatEvents.begin;
  /** Choices that have begun and are not finished. */
  readonly #open = new Set<number>();
  readonly #finished = new Set<number>();
  /** What may be the last chunk with a choice; `bytes` is its event as it came, until something is added. */
  #held: { readonly chunk: Chunk; readonly bytes: string | undefined } | undefined;
  /** What waits for the next chunk with a choice. */
  #fields: object | undefined;
  #keptBytes = 0;

  toBytes(frame: Frame): string {
    const isRun = frame.textBytes !== undefined && this.#held === undefined && this.#fields === undefined;
    if (isRun && this.#open.size > 0) return frame.bytes;
    const { chunks, bytes } = frame;
    return chunks.map((chunk) => this.#take(chunk, bytes, chunks.length === 1)).join('');
  }

  end(): string {
    return this.#letGo() + compatEvents.end();
  }

  toFault(error: ParleyError, context: RequestContext): string {
    return this.#letGo() + compatEvents.toFault(error, context);
  }

  /** What goes out now that a chunk came, in a frame of those bytes. */
  #take(given: Chunk, frameBytes: string, isAlone: boolean): string {
    if (given.choices.length === 0) {
      this.#keep(given, frameBytes.length);
      return '';
    }
    const before = this.#letGo();
    const chunk = this.#fields === undefined ? given : { ...this.#fields, ...given };
    this.#fields = undefined;
    this.#note(chunk);
    const bytes = isAlone && chunk === given ? frameBytes : undefined;
    if (this.#open.size > 0) return before + (bytes ?? toEvent(chunk));
    this.#held = { chunk, bytes };
    return before;
  }

  #note({ choices }: Chunk): void {
    for (const { index, finish_reason: reason } of choices) {
      if (reason !== null) {
        this.#open.delete(index);
        this.#finished.add(index);
      } else if (!this.#finished.has(index)) this.#open.add(index);
    }
  }

  /** Puts what a chunk without choices brings onto the last one, or else onto the next. */
  #keep(chunk: Chunk, length: number): void {
    const fields = Object.fromEntries(Object.entries(chunk).filter(([key]) => !common.has(key)));
    if (Object.keys(fields).length === 0) return;
    this.#keptBytes += length;
    if (this.#keptBytes > maxKeptBytes)
      throw new ParleyError('upstream_failed', `The answer has more than ${maxKeptBytes} bytes beside its choices.`);
    if (this.#held === undefined) this.#fields = { ...this.#fields, ...fields };
    else this.#held = { chunk: { ...this.#held.chunk, ...fields }, bytes: undefined };
  }

  #letGo(): string {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined ? '' : (held.bytes ?? toEvent(held.chunk));
  }
}
