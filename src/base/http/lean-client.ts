import { Sweep, type Swept } from '../time/sweep.ts';
import {
  type Exchange,
  type HttpBody,
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  isStreamed,
  type ReplyListener,
} from './client.ts';
import { findUnsendableError } from './header-fields.ts';
import { type ConnectionOwner, type ConnectionTarget, LeanConnection, toConnectionTarget } from './lean-connection.ts';
import { LeanExchange } from './lean-exchange.ts';

const readBufferBytes = 64 * 1024;
const maxPools = 1000;

interface Target {
  readonly href: string;
  readonly pool: LeanPool;
  /** Path with query, and host, as written in a request head. */
  readonly path: string;
  readonly host: string;
}

/**
 * HTTP/1.1 client directly on sockets, with one write per request, one shared read buffer, and one timer for all time limits. If
 * a reused connection closes before the first byte of the reply, the request is resent once on a new connection. This includes
 * POST requests, because the server most likely closed the idle connection while the request was on its way. A server may
 * therefore receive a request twice.
 */
export class LeanClient implements HttpClient {
  readonly #options: HttpClientOptions;
  readonly #sweep = new Sweep();
  readonly #readBuffer = Buffer.allocUnsafeSlow(readBufferBytes);
  readonly #pools = new Map<string, LeanPool>();
  readonly #targets = new WeakMap<URL, Target>();

  constructor(options: HttpClientOptions = {}) {
    this.#options = options;
  }

  send(request: HttpRequest, listener: ReplyListener): Exchange {
    const error = findUnsendableError(request);
    if (error !== null) {
      const rejected = new LeanExchange(request, '', listener, this.#sweep);
      process.nextTick(() => rejected.fail(error));
      return rejected;
    }
    const { url } = request;
    const cached = this.#targets.get(url);
    const target = cached !== undefined && cached.href === url.href && !cached.pool.isClosed ? cached : this.#createTarget(url);
    const exchange = new LeanExchange(request, toRequestHead(request, target), listener, this.#sweep);
    target.pool.send(exchange);
    return exchange;
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
  }

  #createTarget(url: URL): Target {
    const target = { href: url.href, pool: this.#getPool(url), path: url.pathname + url.search, host: url.host };
    this.#targets.set(url, target);
    return target;
  }

  #getPool(url: URL): LeanPool {
    const { origin } = url;
    const existing = this.#pools.get(origin);
    if (existing !== undefined) return existing;
    if (this.#pools.size >= maxPools) this.#deleteUnused();
    const pool = new LeanPool(toConnectionTarget(url, this.#readBuffer, this.#options), this.#sweep);
    this.#pools.set(origin, pool);
    return pool;
  }

  #deleteUnused(): void {
    for (const [origin, pool] of this.#pools) {
      if (pool.idleCount > 0) continue;
      pool.close();
      this.#pools.delete(origin);
    }
  }
}

function toRequestHead(request: HttpRequest, target: Target): string {
  const { method, headers, body } = request;
  let head = `${method} ${target.path} HTTP/1.1\r\nhost: ${target.host}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  const length = typeof body === 'string' ? body.length : body === null ? undefined : countBytes(body);
  if (length !== undefined) head += `content-length: ${length}\r\n\r\n`;
  else if (body !== null) head += 'transfer-encoding: chunked\r\n\r\n';
  else head += method === 'POST' || method === 'PUT' ? 'content-length: 0\r\n\r\n' : '\r\n';
  return head;
}

function countBytes(body: Exclude<HttpBody, string>): number | undefined {
  if (isStreamed(body) || Buffer.isBuffer(body)) return body.length;
  return body.reduce((sum, piece) => sum + piece.length, 0);
}

/** Connections to one origin. The most recently used one is reused first, so that surplus connections expire. */
export class LeanPool implements ConnectionOwner, Swept {
  slot = -1;
  /** Whether the pool no longer keeps idle connections. Exchanges still work. */
  isClosed = false;
  readonly #target: ConnectionTarget;
  readonly #sweep: Sweep;
  #idle: LeanConnection[] = [];
  #session: Buffer | null = null;

  constructor(target: ConnectionTarget, sweep: Sweep) {
    this.#target = target;
    this.#sweep = sweep;
  }

  get idleCount(): number {
    return this.#idle.length;
  }

  send(exchange: LeanExchange): void {
    // A streamed body cannot be resent, so it must not use a connection that may be about to close.
    if (typeof exchange.body !== 'string' && isStreamed(exchange.body)) return this.resend(exchange);
    const nowMs = performance.now();
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.isClosed && connection.idleUntilMs > nowMs) return connection.send(exchange);
      connection.destroy();
    }
    this.resend(exchange);
  }

  resend(exchange: LeanExchange): void {
    new LeanConnection(this.#target, this.#session, this, exchange);
  }

  onReleased(connection: LeanConnection, keepAliveMs: number): void {
    if (this.isClosed) {
      connection.destroy();
      return;
    }
    connection.idleUntilMs = performance.now() + keepAliveMs;
    this.#idle.push(connection);
    if (this.#idle.length === 1) this.#sweep.add(this);
  }

  onClosed(connection: LeanConnection): void {
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }

  onSession(session: Buffer): void {
    this.#session = session;
  }

  close(): void {
    this.isClosed = true;
    for (const connection of this.#idle) connection.destroy();
    this.#idle = [];
    this.#sweep.delete(this);
  }

  sweep(nowMs: number): void {
    const active: LeanConnection[] = [];
    for (const connection of this.#idle) {
      if (connection.isClosed) continue;
      if (connection.idleUntilMs > nowMs) active.push(connection);
      else connection.destroy();
    }
    this.#idle = active;
    if (active.length === 0) this.#sweep.delete(this);
  }
}
