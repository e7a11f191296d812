import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Chunk, ChunkChoice, FinishReason, Statistics, Usage } from '#contract/chunk.ts';
import { ParleyError, toErrorBody } from '#contract/errors.ts';
import type { Frame } from '#contract/frame.ts';
import type { ResponseEvent, UnnumberedEvent } from '#contract/responses/events.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import { includables } from '#contract/responses/responses-request.ts';
import { toUsage } from '#domain/usage/usage.ts';
import { ExtensionItems } from './extension-items.ts';
import { Output, type OutputFacts } from './output.ts';
import type { KeptResponse } from './response-keeper.ts';
import { toPieces } from './to-pieces.ts';
import { type ResponseFacts, toResponse } from './to-response.ts';
import { toResponseUsage } from './to-response-usage.ts';

export interface RunFacts extends ResponseFacts, Omit<OutputFacts, 'key'> {
  readonly clock: Pick<Clock, 'epochMs'>;
  /** Called once, with the first event. */
  readonly began: (response: ResponseObject) => void;
  /** Called once, with the response as it ended; undefined if nobody was told of it. Resolves with whether it can be read from then on. */
  readonly ended: (kept: KeptResponse | undefined) => Promise<boolean> | undefined;
}

/**
 * One response from its first event to its last, whoever reads it: frames of the reply go in, numbered events come out, and
 * the response is what they fold to. It knows nothing of HTTP: a run that nobody waits for has the same events.
 */
export class ResponseRun {
  readonly #facts: RunFacts;
  readonly #output: Output;
  readonly #extensions: ExtensionItems;
  #response: ResponseObject;
  #nextNumber = 0;
  #hasEnded = false;
  #finish: FinishReason | undefined;
  #usage: Usage | undefined;
  #statistics: Statistics | undefined;
  #state: JsonObject | undefined;
  #signedText: unknown;
  #settling: Promise<void> | undefined;

  constructor(facts: RunFacts) {
    this.#facts = facts;
    this.#output = new Output({ ...facts, key: facts.id.slice(facts.id.indexOf('_') + 1) });
    this.#extensions = new ExtensionItems(this.#output, new Set(facts.request.include));
    this.#response = { ...toResponse(facts), status: facts.isBackground ? 'queued' : 'in_progress' };
  }

  /** As far as it has come; whole once it has ended. */
  get response(): ResponseObject {
    return this.#response;
  }

  /** Resolves once the response that has ended can be read, or says that it cannot; undefined if that is so already. */
  get settling(): Promise<void> | undefined {
    return this.#settling;
  }

  /** The events that open the response; `take` gives them first if nobody asked before. */
  begin(): ResponseEvent[] {
    if (this.#nextNumber > 0) return [];
    this.#facts.began(this.#response);
    const response = this.#response;
    if (!this.#facts.isBackground)
      return this.#numbered([
        { type: 'response.created', response },
        { type: 'response.in_progress', response },
      ]);
    this.#response = { ...response, status: 'in_progress' };
    return this.#numbered([
      { type: 'response.created', response },
      { type: 'response.queued', response },
      { type: 'response.in_progress', response: this.#response },
    ]);
  }

  /** The events that a part of the reply means. */
  take(frame: Frame): ResponseEvent[] {
    const first = this.begin();
    for (const chunk of frame.chunks) this.#takeChunk(chunk);
    const events = this.#numbered(this.#output.takeEvents());
    return first.length === 0 ? events : [...first, ...events];
  }

  /** What closes a response whose reply ended well. Throws upstream_failed for one that leaves a call half. */
  end(): ResponseEvent[] {
    const first = this.begin();
    const reason = this.#incompleteReason();
    if (reason === undefined && this.#output.hasHalfCall)
      throw new ParleyError('upstream_failed', 'The answer calls a tool with arguments that are not a JSON object.');
    this.#output.close(reason === undefined ? 'completed' : 'incomplete');
    this.#extensions.end();
    this.#putCarried();
    const events = this.#numbered(this.#output.takeEvents());
    const status = reason === undefined ? 'completed' : 'incomplete';
    this.#conclude({
      status,
      completed_at: status === 'completed' ? Math.floor(this.#facts.clock.epochMs() / 1000) : null,
      incomplete_details: reason === undefined ? null : { reason },
    });
    return [...first, ...events, ...this.#numbered([{ type: `response.${status}`, response: this.#response }])];
  }

  /** What closes a response that broke off: the fault, then the response with what there is of it. */
  fail(error: ParleyError): ResponseEvent[] {
    if (this.#hasEnded) return [];
    const { error: told } = toErrorBody(error);
    const { code, message, param } = told;
    const { type, display_message } = told;
    const body = { type, message, param, code, ...(display_message !== undefined && { display_message }) };
    const first = [...this.begin(), ...this.#numbered(this.#output.takeEvents())];
    this.#breakOff({ status: 'failed', error: { code: toResponseCode(error), message } });
    return [
      ...first,
      ...this.#numbered([
        { type: 'error', code, message, param, error: body },
        { type: 'response.failed', response: this.#response },
      ]),
    ];
  }

  /** Ends a response that nobody wants any more; no event tells of it. */
  cancel(): void {
    if (this.#hasEnded) return;
    if (this.#nextNumber > 0) return this.#breakOff({ status: 'cancelled' });
    this.abandon();
  }

  /** Ends a response that nobody was told of. */
  abandon(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void this.#facts.ended(undefined);
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
    if (delta.extra_content !== undefined) this.#signedText = delta.extra_content;
    const custom = delta.custom_content;
    if (!isJsonObject(custom)) return;
    if (isJsonObject(custom.state)) this.#state = custom.state;
    this.#extensions.add(custom);
  }

  #incompleteReason() {
    if (this.#finish === 'length') return 'max_output_tokens';
    return this.#finish === 'content_filter' ? 'content_filter' : undefined;
  }

  /** What the next turn needs and no item shows: the caller carries it sealed, unless it rests with the stored response. */
  #putCarried(): void {
    const { isStored, seal } = this.#facts;
    if (isStored || seal === undefined) return;
    if (this.#state !== undefined) this.#output.putSealed(seal({ state: this.#state }));
    const signed = this.#signed();
    if (signed !== undefined) this.#output.putSealed(seal(signed));
  }

  #signed() {
    const { signedCalls: calls } = this.#output;
    if (calls === undefined && this.#signedText === undefined) return undefined;
    return { ...(calls && { calls }), ...(this.#signedText !== undefined && { extra_content: this.#signedText }) };
  }

  /** Nothing is said of items that are half: a client would run a call whose end is told. */
  #breakOff(fields: Partial<ResponseObject>): void {
    this.#output.close('incomplete');
    this.#output.takeEvents();
    this.#conclude(fields);
  }

  #conclude(fields: Partial<ResponseObject>): void {
    this.#hasEnded = true;
    const { include = [] } = this.#facts.request;
    const statistics = include.includes(includables.statistics) ? this.#statistics : undefined;
    this.#response = {
      ...this.#response,
      ...fields,
      output: this.#output.items,
      usage: this.#usage === undefined ? null : toResponseUsage(this.#usage),
      ...(statistics && { parley: { statistics } }),
    };
    const response = this.#response;
    const settling = this.#facts.ended({ response, items: [...this.#output.storedItems, ...this.#carriedItems()] });
    this.#settling = settling?.then((isKept) => {
      if (!isKept) response.store = false;
    });
  }

  /** What rests with a stored response. */
  #carriedItems(): (JsonObject & { type: string })[] {
    const { isStored, seal } = this.#facts;
    if (!isStored) return [];
    const signed = this.#signed();
    return [
      ...(this.#state === undefined ? [] : [{ type: 'parley:state', state: this.#state }]),
      ...(signed === undefined || seal === undefined
        ? []
        : [{ type: 'reasoning', summary: [], encrypted_content: seal(signed) }]),
    ];
  }

  #numbered(events: readonly UnnumberedEvent[]): ResponseEvent[] {
    return events.map(({ type, ...fields }) => {
      const event = { type, sequence_number: this.#nextNumber, ...fields };
      this.#nextNumber += 1;
      return event as ResponseEvent;
    });
  }
}

/** The word for an error that a response has in itself. */
function toResponseCode({ status }: ParleyError): string {
  if (status === 429) return 'rate_limit_exceeded';
  return status >= 400 && status < 500 ? 'invalid_prompt' : 'server_error';
}
