import { HttpFault } from '#base/http/client.ts';

/** Length of the whole, length of the header fields, their sum. */
const preludeBytes = 12;
/** With the sum of the whole at its end. */
const leastFrameBytes = 16;
const maxFrameBytes = 16 * 1024 * 1024;
const frameType = 'application/vnd.amazon.eventstream';

/**
 * The same response; a stream of frames of AWS comes frame by frame: who reads it joins what waits with each read, which takes
 * quadratic time for a frame that never ends. One that says it is longer than 16 MiB, or shorter than a frame can be, is a fault.
 */
export function withWholeFrames(response: Response): Response {
  const { body, headers, status, statusText } = response;
  if (body === null || !headers.get('content-type')?.includes(frameType)) return response;
  const frames = new FrameCutter();
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      const whole = frames.push(piece);
      if (whole.length > 0) controller.enqueue(whole);
    },
    flush(controller) {
      const { rest } = frames;
      if (rest.length > 0) controller.enqueue(rest);
    },
  });
  return new Response(body.pipeThrough(cut), { headers, status, statusText });
}

/** Cuts bytes where whole frames end. Each byte is copied twice at most, however it comes. */
class FrameCutter {
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** As many bytes must be there before it can go on. */
  #neededBytes = preludeBytes;

  /** The whole frames that are there now. Throws HttpFault. */
  push(piece: Uint8Array): Uint8Array {
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes < this.#neededBytes) return new Uint8Array();
    const all = this.rest;
    const end = this.#endOfFrames(all);
    this.#waiting = end === all.length ? [] : [all.subarray(end)];
    this.#waitingBytes = all.length - end;
    return all.subarray(0, end);
  }

  /** What no whole frame has come of. */
  get rest(): Buffer {
    return Buffer.concat(this.#waiting);
  }

  #endOfFrames(bytes: Buffer): number {
    let at = 0;
    for (;;) {
      this.#neededBytes = preludeBytes;
      if (bytes.length - at < preludeBytes) return at;
      const length = bytes.readUInt32BE(at);
      if (length < leastFrameBytes || length > maxFrameBytes)
        throw new HttpFault('malformed', `a frame of its events says that it has ${length} bytes`);
      this.#neededBytes = length;
      if (bytes.length - at < length) return at;
      at += length;
    }
  }
}
