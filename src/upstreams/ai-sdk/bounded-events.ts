import { defaultJsonBounds } from '#base/json/json.ts';
import { isEventStream } from '#base/net/guarded-fetch.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

/** The level of the parts of a reply, `candidates[].content.parts[]` or `choices[].delta.content[]`. */
const partsDepth = 5;
/** Packages compare each part with all forms of parts, and write a text about each that has none: 100,000 take 5 seconds. */
const maxParts = 2_000;
const [lf, cr, quote, backslash, comma] = [10, 13, 34, 92, 44];
const openings: ReadonlySet<number> = new Set([91, 123]);
const closings: ReadonlySet<number> = new Set([93, 125]);

/** Returns the response with a bound on the items of each event of its stream. An event beyond it fails with UpstreamFault. */
export function withBoundedEvents(response: Response): Response {
  const { body, headers, status, statusText } = response;
  if (body === null || !isEventStream(response)) return response;
  const counter = new ItemCounter();
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      if (counter.push(piece)) controller.enqueue(piece);
      else controller.error(new UpstreamFault('broken', 'The upstream sent an event with too many items.'));
    },
  });
  return new Response(body.pipeThrough(bounded), { headers, status, statusText });
}

/** Counts the items of JSON in events, wherever the pieces are cut. */
class ItemCounter {
  #last = lf;
  #lineLength = 0;
  #isInString = false;
  #isEscaped = false;
  #depth = 0;
  #parts = 0;
  #nodes = 0;
  #isWithinBounds = true;

  /** Returns whether all events are within their bounds so far. */
  push(piece: Uint8Array): boolean {
    for (const byte of piece) {
      if (byte === lf || byte === cr) this.#endLine(byte);
      else if (this.#isInString) this.#readString(byte);
      else this.#readStructure(byte);
      this.#last = byte;
    }
    return this.#isWithinBounds;
  }

  #readStructure(byte: number): void {
    this.#lineLength += 1;
    if (byte === quote) this.#isInString = true;
    if (closings.has(byte)) this.#depth -= 1;
    if (openings.has(byte)) this.#depth += 1;
    else if (byte !== comma) return;
    this.#nodes += 1;
    if (this.#depth <= partsDepth) this.#parts += 1;
    const { maxNodes, maxDepth } = defaultJsonBounds;
    if (this.#parts > maxParts || this.#nodes > maxNodes || this.#depth > maxDepth) this.#isWithinBounds = false;
  }

  #readString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isInString = false;
  }

  /** A string has no line breaks, and an empty line ends an event. */
  #endLine(byte: number): void {
    this.#isInString = false;
    this.#isEscaped = false;
    const isSecondHalf = byte === lf && this.#last === cr;
    if (this.#lineLength === 0 && !isSecondHalf) {
      this.#depth = 0;
      this.#parts = 0;
      this.#nodes = 0;
    }
    this.#lineLength = 0;
  }
}
