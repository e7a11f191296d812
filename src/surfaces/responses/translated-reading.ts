import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Chunk, ChunkChoice, FinishReason, Statistics, Usage } from '#contract/chunk.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Frame } from '#contract/frame.ts';
import type { UnnumberedEvent } from '#contract/responses/events.ts';
import { includables, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import { toUsage } from '#domain/usage/usage.ts';
import { Citations, citationsOf } from './citations.ts';
import { ExtensionItems } from './extension-items.ts';
import { Output, type OutputFacts } from './output.ts';
import type { Ending, KeptItem, Reading } from './reading.ts';
import type { Thoughts } from './sealed-thoughts.ts';
import { toPieces } from './to-pieces.ts';
import { toResponseUsage } from './to-response-usage.ts';

export interface ReadingFacts extends OutputFacts {
  readonly request: ResponsesRequest;
}

/** Reads a reply of the compat wire as a response. */
export class TranslatedReading implements Reading {
  readonly #facts: ReadingFacts;
  readonly #output: Output;
  readonly #extensions: ExtensionItems;
  #finish: FinishReason | undefined;
  #usage: Usage | undefined;
  #statistics: Statistics | undefined;
  #state: JsonObject | undefined;
  #signedText: unknown;
  readonly #citations = new Citations();

  constructor(facts: ReadingFacts) {
    this.#facts = facts;
    this.#output = new Output(facts);
    this.#extensions = new ExtensionItems(this.#output, new Set(facts.request.include));
  }

  take(frame: Frame): readonly UnnumberedEvent[] {
    for (const chunk of frame.chunks) this.#takeChunk(chunk);
    return this.#output.takeEvents();
  }

  end(): Ending {
    const reason = this.#incompleteReason();
    if (reason === undefined && this.#output.hasHalfCall)
      throw new ParleyError('upstream_failed', 'The answer calls a tool with arguments that are not a JSON object.');
    const status = reason === undefined ? 'completed' : 'incomplete';
    this.#output.cite(this.#citations.in(this.#output.text));
    this.#output.close(status);
    this.#extensions.end();
    this.#putCarried();
    const incomplete_details = reason === undefined ? null : { reason };
    return this.#ending({ status, incomplete_details });
  }

  /** Nothing is said of items that are half: a client would run a call whose end is told. */
  breakOff(): Ending {
    this.#output.close('incomplete');
    this.#output.takeEvents();
    return this.#ending({});
  }

  #takeChunk(chunk: Chunk): void {
    if (chunk.usage) this.#usage = toUsage(chunk.usage);
    if (chunk.statistics) this.#statistics = chunk.statistics;
    for (const choice of chunk.choices) if ((choice.index ?? 0) === 0) this.#takeChoice(choice);
  }

  #takeChoice({ delta, finish_reason }: ChunkChoice): void {
    if (finish_reason) this.#finish = finish_reason;
    if (!isJsonObject(delta)) return;
    for (const piece of toPieces(delta)) this.#output.add(piece);
    if (delta.annotations !== undefined) this.#output.cite(citationsOf(delta));
    if (delta.extra_content !== undefined) this.#signedText = delta.extra_content;
    const custom = delta.custom_content;
    if (!isJsonObject(custom)) return;
    if (isJsonObject(custom.state)) this.#state = custom.state;
    if (Array.isArray(custom.attachments)) this.#citations.note(custom.attachments);
    this.#extensions.add(custom);
  }

  #incompleteReason(): 'max_output_tokens' | 'content_filter' | undefined {
    if (this.#finish === 'length') return 'max_output_tokens';
    return this.#finish === 'content_filter' ? 'content_filter' : undefined;
  }

  /** What the next turn needs and no item shows: the caller carries it sealed, unless it rests with the stored response. */
  #putCarried(): void {
    const { isStored, seal } = this.#facts;
    if (isStored) return;
    if (this.#state !== undefined) this.#output.putSealed(seal({ state: this.#state }));
    const signed = this.#signed();
    if (signed !== undefined) this.#output.putSealed(seal(signed));
  }

  #signed(): Thoughts | undefined {
    const { signedCalls: calls } = this.#output;
    if (calls === undefined && this.#signedText === undefined) return undefined;
    return { ...(calls && { calls }), ...(this.#signedText !== undefined && { extra_content: this.#signedText }) };
  }

  #ending(fields: Ending['fields']): Ending {
    const { include = [] } = this.#facts.request;
    const statistics = include.includes(includables.statistics) ? this.#statistics : undefined;
    return {
      events: this.#output.takeEvents(),
      fields: {
        ...fields,
        output: this.#output.items,
        usage: this.#usage === undefined ? null : toResponseUsage(this.#usage),
        ...(statistics && { parley: { statistics } }),
      },
      items: [...this.#output.storedItems, ...this.#carriedItems()],
    };
  }

  /** What rests with a stored response. */
  #carriedItems(): KeptItem[] {
    const { isStored, seal } = this.#facts;
    if (!isStored) return [];
    const signed = this.#signed();
    return [
      ...(this.#state === undefined ? [] : [{ type: 'parley:state', state: this.#state }]),
      ...(signed === undefined ? [] : [{ type: 'reasoning', summary: [], encrypted_content: seal(signed) }]),
    ];
  }
}
