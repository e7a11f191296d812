import { connect, type Socket } from 'node:net';
import { readChunks } from '../support/read-answers.ts';

/** An answer as it was read off the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: string;
  /** As latin1 text. */
  readonly body: string;
}

/** The service closes a connection that was idle for longer, at the same moment as the next request is sent on it. */
const maxIdleMs = 30_000;

/** Connections to one service, each kept for one request after the other. */
export class Wire {
  readonly #port: number;
  readonly #idle: Kept[] = [];
  readonly #all = new Set<Kept>();

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  /** Sends bytes as they are, and gives the answer; rejects where the connection ends before one, or after so long a time. */
  async send(
    bytes: Buffer,
    { isHead, longestMs }: { readonly isHead: boolean; readonly longestMs: number },
  ): Promise<WireAnswer> {
    const kept = this.#takeIdle() ?? this.#open();
    let isLate = false;
    const patience = setTimeout(() => {
      isLate = true;
      kept.close();
    }, longestMs);
    try {
      const answer = await kept.ask(bytes, isHead);
      if (kept.isOpen) this.#idle.push(kept);
      return answer;
    } catch (thrown) {
      throw isLate ? new Error(`no answer in ${longestMs} ms`) : thrown;
    } finally {
      clearTimeout(patience);
    }
  }

  close(): void {
    for (const kept of this.#all) kept.close();
  }

  #takeIdle(): Kept | undefined {
    const kept = this.#idle.pop();
    if (kept === undefined || performance.now() - kept.lastUsedMs < maxIdleMs) return kept;
    // Those before it were idle for longer.
    for (const idle of [kept, ...this.#idle.splice(0)]) idle.close();
    return undefined;
  }

  #open(): Kept {
    const kept = new Kept(this.#port, () => this.#all.delete(kept));
    this.#all.add(kept);
    return kept;
  }
}

/** One connection with at most one request under way. */
class Kept {
  isOpen = true;
  lastUsedMs = performance.now();
  readonly #socket: Socket;
  #said = '';
  /** The last characters of it. */
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
      this.#said += text;
      // To look costs time in proportion to all that came. In the middle of chunks there is no need to.
      this.#end = (this.#end + text).slice(-7);
      if (!this.#isInChunks || this.#end === '\r\n0\r\n\r\n') this.#look(false);
    });
    this.#socket
      .on('error', () => undefined)
      .on('close', () => {
        this.isOpen = false;
        this.#look(true);
        this.#reject?.(new Error(`the connection closed after ${JSON.stringify(this.#said.slice(0, 200))}`));
        closed();
      });
  }

  ask(bytes: Buffer, isHead: boolean): Promise<WireAnswer> {
    this.#isHead = isHead;
    this.#said = '';
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

  #look(hasEnded: boolean): void {
    const read = readAnswer(this.#said, { isHead: this.#isHead, hasEnded });
    if (read === undefined) this.#isInChunks ||= isInChunks(this.#said);
    if (read === undefined || this.#resolve === undefined) return;
    if (/\r\nconnection: *close/i.test(read.headers)) this.close();
    this.lastUsedMs = performance.now();
    const resolve = this.#resolve;
    [this.#resolve, this.#reject] = [undefined, undefined];
    resolve(read);
  }
}

/** Whether the head of a final answer came, which announces chunks. */
function isInChunks(said: string): boolean {
  const end = said.indexOf('\r\n\r\n');
  return end >= 0 && !/^HTTP\/1\.1 1/.test(said) && /\r\ntransfer-encoding: *chunked/i.test(said.slice(0, end + 2));
}

/** The first final answer in what was said; undefined until it is whole. */
function readAnswer(
  said: string,
  { isHead, hasEnded }: { readonly isHead: boolean; readonly hasEnded: boolean },
): WireAnswer | undefined {
  const end = said.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const headers = said.slice(0, end + 2);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(headers)?.[1] ?? 0);
  const rest = said.slice(end + 4);
  if (status >= 100 && status < 200) return readAnswer(rest, { isHead, hasEnded });
  if (isHead || status === 204 || status === 304) return { status, headers, body: '' };
  const length = /\r\ncontent-length: *(\d+)/i.exec(headers)?.[1];
  if (length !== undefined)
    return rest.length < Number(length) ? undefined : { status, headers, body: rest.slice(0, Number(length)) };
  if (/\r\ntransfer-encoding: *chunked/i.test(headers)) {
    const isWhole = rest === '0\r\n\r\n' || rest.endsWith('\r\n0\r\n\r\n');
    return isWhole ? { status, headers, body: readChunks(rest).body } : undefined;
  }
  return hasEnded ? { status, headers, body: rest } : undefined;
}
