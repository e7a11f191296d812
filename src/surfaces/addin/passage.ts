import type { IncomingMessage, ServerResponse } from 'node:http';
import { refusal } from './own-answer.ts';
import type { Relay } from './relay.ts';
import type { Upload } from './upload.ts';
import type { Upstream, UpstreamRequest } from './upstream.ts';

/** How much of a request's body is taken. */
export interface BodyBounds {
  /** A larger body is refused with 413. */
  readonly maxBytes: number;
  /** A larger body goes up as it comes, in no faster a pace than the service takes it; a smaller one in one piece. */
  readonly wholeBytes: number;
}

export interface PassageDeps {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upstream: Upstream;
  readonly relay: Relay;
  readonly bounds: BodyBounds;
}

const lingerMs = 1_000;
const tooLarge = refusal(413, 'request_too_large', 'The body is larger than this gateway takes.', ['Connection', 'close']);

/** Takes one request up to the service. */
export class Passage {
  readonly #deps: PassageDeps;
  readonly #asked: UpstreamRequest;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #upload: Upload | undefined;

  constructor(deps: PassageDeps, asked: UpstreamRequest) {
    this.#deps = deps;
    this.#asked = asked;
  }

  start(): void {
    const { request, bounds } = this.#deps;
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    const announced = Number(length ?? 0);
    if (announced > bounds.maxBytes) this.#refuse();
    else if (announced === 0 && coding === undefined) this.#send(null);
    else {
      if (announced > bounds.wholeBytes) this.#openUpload(length);
      request.on('data', this.#take).on('end', this.#end);
    }
  }

  readonly #take = (piece: Buffer): void => {
    const { bounds, request } = this.#deps;
    this.#bytes += piece.length;
    if (this.#bytes > bounds.maxBytes) this.#refuse();
    else if (this.#upload === undefined) {
      this.#pieces.push(piece);
      if (this.#bytes > bounds.wholeBytes) this.#openUpload(undefined);
    } else if (!this.#upload.write(piece)) request.pause();
  };

  readonly #end = (): void => {
    const [first] = this.#pieces;
    if (this.#upload !== undefined) this.#upload.finish();
    else this.#send(this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces, this.#bytes));
    this.#pieces = [];
  };

  #send(body: Buffer | null): void {
    const { relay, response, upstream } = this.#deps;
    // The last of a body may be read after its sender has gone.
    if (!response.destroyed) relay.follow(upstream.send(this.#asked, body, relay));
  }

  #openUpload(length: string | undefined): void {
    const { relay, request, upstream } = this.#deps;
    const upload = upstream.upload(this.#asked, length, relay);
    upload.onDrain(() => request.resume());
    relay.follow(upload);
    for (const piece of this.#pieces) upload.write(piece);
    this.#pieces = [];
    this.#upload = upload;
  }

  /** A caller in the middle of a long body reads the answer only if the connection outlives it: what comes is let run for a moment. */
  #refuse(): void {
    const { relay, request, response } = this.#deps;
    request.off('data', this.#take).off('end', this.#end);
    relay.stop();
    if (response.headersSent) {
      response.destroy();
      return;
    }
    relay.answer(tooLarge);
    request.resume();
    const timer = setTimeout(() => request.destroy(), lingerMs);
    request.once('close', () => clearTimeout(timer));
  }
}
