import { connect, type Socket } from 'node:net';
import { readChunks } from '../support/read-answers.ts';

/** A response as it was read from the connection. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: string;
  /** Body as latin1 text. */
  readonly body: string;
}

/** The service closes idle connections after a longer time, which could coincide with the next request. */
const maxIdleMs = 30_000;

/** Pool of connections to one service. Each connection carries one request at a time. */
export class Wire {
  readonly #port: number;
  readonly #idle: WireConnection[] = [];
  readonly #all = new Set<WireConnection>();

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  /** Sends bytes unchanged and returns the response. Rejects if the connection ends before a response or after `maxMs`. */
  async send(bytes: Buffer, { isHead, maxMs }: { readonly isHead: boolean; readonly maxMs: number }): Promise<WireAnswer> {
    const connection = this.#takeIdle() ?? this.#open();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      connection.close();
    }, maxMs);
    try {
      const answer = await connection.request(bytes, isHead);
      if (connection.isOpen) this.#idle.push(connection);
      return answer;
    } catch (error) {
      throw isLate ? new Error(`no answer in ${maxMs} ms`) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    for (const connection of this.#all) connection.close();
  }

  #takeIdle(): WireConnection | undefined {
    const connection = this.#idle.pop();
    if (connection === undefined || performance.now() - connection.lastUsedMs < maxIdleMs) return connection;
    // The remaining connections were idle for even longer.
    for (const idle of [connection, ...this.#idle.splice(0)]) idle.close();
    return undefined;
  }

  #open(): WireConnection {
    const connection = new WireConnection(this.#port, () => this.#all.delete(connection));
    this.#all.add(connection);
    return connection;
  }
}

/** One connection with at most one request in progress. */
class WireConnection {
  isOpen = true;
  lastUsedMs = performance.now();
  readonly #socket: Socket;
  #received = '';
  /** The last characters of the received text. */
  #end = '';
  #isInChunks = false;
  #isHead = false;
  #wasUsed = false;
  #resolve: ((answer: WireAnswer) => void) | undefined;
  #reject: ((reason: Error) => void) | undefined;

  constructor(port: number, closed: () => void) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
    this.#socket.on('data', (piece) => {
      const text = String(piece);
      this.#received += text;
      // Parsing takes time in proportion to all received text. In the middle of chunks, it is not necessary.
      this.#end = (this.#end + text).slice(-7);
      if (!this.#isInChunks || this.#end === '\r\n0\r\n\r\n') this.#readReceived(false);
    });
    this.#socket
      .on('error', () => undefined)
      .on('close', () => {
        this.isOpen = false;
        this.#readReceived(true);
        this.#reject?.(new Error(`the connection closed after ${JSON.stringify(this.#received.slice(0, 200))}`));
        closed();
      });
  }

  request(bytes: Buffer, isHead: boolean): Promise<WireAnswer> {
    this.#isHead = isHead;
    this.#received = '';
    this.#isInChunks = false;
    this.#wasUsed = true;
    return new Promise((resolve, reject) => {
      [this.#resolve, this.#reject] = [resolve, reject];
      if (!this.isOpen && this.#wasUsed) return reject(new Error('the connection is closed'));
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.isOpen = false;
    this.#socket.destroy();
  }

  #readReceived(hasEnded: boolean): void {
    const answer = readAnswer(this.#received, { isHead: this.#isHead, hasEnded });
    if (answer === undefined) this.#isInChunks ||= isInChunks(this.#received);
    if (answer === undefined || this.#resolve === undefined) return;
    if (/\r\nconnection: *close/i.test(answer.headers)) this.close();
    this.lastUsedMs = performance.now();
    const resolve = this.#resolve;
    [this.#resolve, this.#reject] = [undefined, undefined];
    resolve(answer);
  }
}

/** Returns whether the header section of a final chunked response has arrived. */
function isInChunks(received: string): boolean {
  const end = received.indexOf('\r\n\r\n');
  return end >= 0 && !/^HTTP\/1\.1 1/.test(received) && /\r\ntransfer-encoding: *chunked/i.test(received.slice(0, end + 2));
}

/** Parses the first final response of the received text. Returns undefined until it is complete. */
function readAnswer(
  received: string,
  { isHead, hasEnded }: { readonly isHead: boolean; readonly hasEnded: boolean },
): WireAnswer | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const headers = received.slice(0, end + 2);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(headers)?.[1] ?? 0);
  const body = received.slice(end + 4);
  if (status >= 100 && status < 200) return readAnswer(body, { isHead, hasEnded });
  if (isHead || status === 204 || status === 304) return { status, headers, body: '' };
  const length = /\r\ncontent-length: *(\d+)/i.exec(headers)?.[1];
  if (length !== undefined)
    return body.length < Number(length) ? undefined : { status, headers, body: body.slice(0, Number(length)) };
  if (/\r\ntransfer-encoding: *chunked/i.test(headers)) {
    const isWhole = body === '0\r\n\r\n' || body.endsWith('\r\n0\r\n\r\n');
    return isWhole ? { status, headers, body: readChunks(body).body } : undefined;
  }
  return hasEnded ? { status, headers, body } : undefined;
}
