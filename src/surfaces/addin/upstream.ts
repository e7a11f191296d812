import type { Exchange, HttpTimeouts, ReplyListener } from '#base/http/client.ts';
import { LeanPool } from '#base/http/lean-client.ts';
import { LeanExchange } from '#base/http/lean-exchange.ts';
import { trimEndSlashes } from '#base/http/url-path.ts';
import { Sweep } from '#base/time/sweep.ts';
import { Upload } from './upload.ts';

const readBufferBytes = 64 * 1024;

/** A model may need minutes before its first byte. Later, the pings of the service keep the stream active. */
const defaultTimeouts: HttpTimeouts = { connectMs: 10_000, firstByteMs: 600_000, idleMs: 300_000 };

/** A request to the service, without its body. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, unchanged from the client. */
  readonly target: string;
  /** All headers except `Host` and framing, as alternating names and values. */
  readonly fields: readonly string[];
}

/**
 * The service behind the gateway. Uses HTTP/1.1 over keep-alive connections, the service's own `Host`, and no `Connection`
 * header (docs/addin.md). The shared HTTP client would send that header.
 */
export class Upstream {
  readonly #url: URL;
  readonly #basePath: string;
  readonly #timeouts: HttpTimeouts;
  readonly #sweep = new Sweep();
  readonly #pool: LeanPool;

  /** `url` is the base URL of the service. Its path is put before every target. */
  constructor(url: URL, timeouts: HttpTimeouts = defaultTimeouts) {
    this.#url = url;
    this.#basePath = trimEndSlashes(url.pathname);
    this.#timeouts = timeouts;
    const isSecure = url.protocol === 'https:';
    const target = {
      isSecure,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
      readBuffer: Buffer.allocUnsafeSlow(readBufferBytes),
      ca: undefined,
      lookup: undefined,
    };
    this.#pool = new LeanPool(target, this.#sweep);
  }

  /**
   * Sends a request with its complete body, or null for no body. If no response arrives, the request may be sent once more on a
   * new connection.
   */
  send(request: UpstreamRequest, body: Buffer | null, listener: ReplyListener): Exchange {
    const { method } = request;
    const fullRequest = { method, url: this.#url, headers: {}, body, timeouts: this.#timeouts, keepsEncoding: true };
    const exchange = new LeanExchange(fullRequest, this.#toHead(request, body), listener, this.#sweep);
    this.#pool.send(exchange);
    return exchange;
  }

  /** Starts a request with a streamed body. The body has the given length, or is chunked if the length is undefined. */
  upload({ method, target, fields }: UpstreamRequest, length: string | undefined, listener: ReplyListener): Upload {
    const framing = length === undefined ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', length];
    const all = ['Host', this.#url.host, ...fields, ...framing];
    return new Upload({ url: this.#url, method, path: this.#basePath + target, fields: all }, this.#timeouts, listener);
  }

  /** Closes idle connections. Requests in progress continue. */
  close(): void {
    this.#pool.close();
  }

  #toHead({ method, target, fields }: UpstreamRequest, body: Buffer | null): string {
    let head = `${method} ${this.#basePath}${target} HTTP/1.1\r\nHost: ${this.#url.host}\r\n`;
    for (let index = 0; index + 1 < fields.length; index += 2) head += `${fields[index]}: ${fields[index + 1]}\r\n`;
    if (body !== null) return `${head}Content-Length: ${body.length}\r\n\r\n`;
    return method === 'POST' ? `${head}Content-Length: 0\r\n\r\n` : `${head}\r\n`;
  }
}
