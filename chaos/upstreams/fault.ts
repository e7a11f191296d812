import type { GoodReply } from './good-replies.ts';

/** One step on the connection. */
export type Step =
  | Buffer
  | { readonly kind: 'wait'; readonly ms: number }
  /** Sends the same bytes every `everyMs`, at most `times` times, until the peer disconnects. */
  | { readonly kind: 'repeat'; readonly bytes: Buffer; readonly times: number; readonly everyMs: number }
  /** Sends no more data and keeps the connection open. */
  | { readonly kind: 'stall' }
  | { readonly kind: 'close' }
  | { readonly kind: 'reset' };

/**
 * The response that a client may receive. `answered`: 200 and a regular end, for harmless replies. `refused`: an error, as a
 * status or as the last event of a stream. `either`: one of the two, complete. `endless`: continues until the client disconnects.
 */
export type Expectation = 'answered' | 'refused' | 'either' | 'endless';

/** One kind of fault of an upstream. */
export interface Fault {
  /** Phase and fault, such as `head: half a status line, then reset`. */
  readonly name: string;
  readonly expects: Expectation;
  /** Restricts the fault to complete replies or to streams. Default: both. */
  readonly only?: 'stream' | 'whole';
  /** Permitted error statuses. Default: any status of 400 and above. */
  readonly statuses?: readonly number[];
  readonly steps: (good: GoodReply) => readonly Step[];
}

export const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
export const wait = (ms: number): Step => ({ kind: 'wait', ms });
export const close: Step = { kind: 'close' };
export const reset: Step = { kind: 'reset' };
export const stall: Step = { kind: 'stall' };

/** Ways to truncate a reply. Each is a separate fault. */
export const cuts: Readonly<Record<string, Step>> = { closed: close, reset, stalled: stall };

/** Writes a valid header section. `fields` replace default fields. */
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

/** Writes a complete reply in valid framing: a stream in chunks, a text with its length. */
export function framed(
  good: GoodReply,
  pieces: readonly Buffer[] = good.pieces,
  fields: readonly string[] = [],
): readonly Step[] {
  if (good.isStream) return [head(good, [chunkedField, ...fields]), ...pieces.map(chunked), lastChunk];
  const body = Buffer.concat(pieces);
  return [head(good, [`content-length: ${body.length}`, ...fields]), body];
}
