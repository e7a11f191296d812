import type { GoodReply } from './good-replies.ts';

/** A step on the wire. */
export type Step =
  | Buffer
  | { readonly kind: 'wait'; readonly ms: number }
  /** Sends the same bytes every `everyMs` until the other side disconnects. */
  | { readonly kind: 'repeat'; readonly bytes: Buffer; readonly times: number; readonly everyMs: number }
  /** Sends nothing more and leaves the connection open. */
  | { readonly kind: 'stall' }
  | { readonly kind: 'close' }
  | { readonly kind: 'reset' };

/**
 * Result that a client may receive. `answered`: 200 and a normal end, for harmless faults. `refused`: an error, as a
 * status or as the last event of a started stream. `either`: one of the two, complete. `endless`: continues until the
 * client disconnects.
 */
export type Expectation = 'answered' | 'refused' | 'either' | 'endless';

/** One kind of harm by an upstream. */
export interface Fault {
  /** Phase and description, such as `head: half a status line, then reset`. */
  readonly name: string;
  readonly expects: Expectation;
  /** Set if the fault applies only to complete replies or only to streams. */
  readonly only?: 'stream' | 'whole';
  /** Allowed statuses of a rejection. Undefined allows any status from 400. */
  readonly statuses?: readonly number[];
  readonly steps: (good: GoodReply) => readonly Step[];
}

export const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
export const wait = (ms: number): Step => ({ kind: 'wait', ms });
export const close: Step = { kind: 'close' };
export const reset: Step = { kind: 'reset' };
export const stall: Step = { kind: 'stall' };

/** Ways to stop in the middle, each a separate kind. */
export const cuts: Readonly<Record<string, Step>> = { closed: close, reset, stalled: stall };

/** Returns a valid head in which `fields` replace the default ones. */
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

/** Returns a complete reply with valid framing: chunks for a stream, a length for a text. */
export function framed(
  good: GoodReply,
  pieces: readonly Buffer[] = good.pieces,
  fields: readonly string[] = [],
): readonly Step[] {
  if (good.isStream) return [head(good, [chunkedField, ...fields]), ...pieces.map(chunked), lastChunk];
  const body = Buffer.concat(pieces);
  return [head(good, [`content-length: ${body.length}`, ...fields]), body];
}
