import type { GoodReply } from './good-replies.ts';

/** What is done on the wire, one after the other. */
export type Step =
  | Buffer
  | { readonly kind: 'wait'; readonly ms: number }
  /** The same bytes again and again until the other side leaves, `everyMs` apart. */
  | { readonly kind: 'repeat'; readonly bytes: Buffer; readonly times: number; readonly everyMs: number }
  /** Nothing more; the connection stays. */
  | { readonly kind: 'stall' }
  | { readonly kind: 'close' }
  | { readonly kind: 'reset' };

/**
 * What a caller may be told. `answered`: 200 and a good end, for what is no harm. `refused`: an error, as a status or, in a
 * stream that has begun, as its last event. `either`: one of the two, whole. `endless`: goes on until the caller leaves.
 */
export type Expectation = 'answered' | 'refused' | 'either' | 'endless';

/** One kind of harm that an upstream does. */
export interface Fault {
  /** Phase and what is wrong, such as `head: half a status line, then reset`. */
  readonly name: string;
  readonly expects: Expectation;
  /** Only for whole replies or only for streams; both where absent. */
  readonly only?: 'stream' | 'whole';
  /** The statuses that a refusal may have; any of 400 and above where absent. */
  readonly statuses?: readonly number[];
  readonly steps: (good: GoodReply) => readonly Step[];
}

export const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
export const wait = (ms: number): Step => ({ kind: 'wait', ms });
export const close: Step = { kind: 'close' };
export const reset: Step = { kind: 'reset' };
export const stall: Step = { kind: 'stall' };

/** Ways to leave off in the middle, each a kind of its own. */
export const cuts: Readonly<Record<string, Step>> = { closed: close, reset, stalled: stall };

/** A head as it should be, with some fields in place of its own. */
export function head(good: Pick<GoodReply, 'contentType'>, fields: readonly string[], statusLine = 'HTTP/1.1 200 OK'): Buffer {
  const hasType = fields.some((field) => /^content-type:/i.test(field));
  const type = hasType ? [] : [`content-type: ${good.contentType}`];
  return bytes(`${[statusLine, ...type, ...fields].join('\r\n')}\r\n\r\n`);
}

export function chunked(piece: Buffer): Buffer {
  return Buffer.concat([bytes(`${piece.length.toString(16)}\r\n`), piece, bytes('\r\n')]);
}

export const lastChunk = bytes('0\r\n\r\n');
export const chunkedField = 'transfer-encoding: chunked';

/** A whole reply in a good frame: a stream in chunks, a text with its length. */
export function framed(
  good: GoodReply,
  pieces: readonly Buffer[] = good.pieces,
  fields: readonly string[] = [],
): readonly Step[] {
  if (good.isStream) return [head(good, [chunkedField, ...fields]), ...pieces.map(chunked), lastChunk];
  const body = Buffer.concat(pieces);
  return [head(good, [`content-length: ${body.length}`, ...fields]), body];
}
