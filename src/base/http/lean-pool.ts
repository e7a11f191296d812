import { isStreamed } from './client.ts';
import { type ConnectionKeeper, type ConnectionTarget, LeanConnection } from './lean-connection.ts';
import type { LeanExchange } from './lean-exchange.ts';
import type { Sweep, Swept } from './sweep.ts';

/** The connections to one origin. The one used last is taken first, so that surplus ones stay idle until they expire. */
export class LeanPool implements ConnectionKeeper, Swept {
  slot = -1;
  /** Whether it keeps no idle connections any more; exchanges still work. */
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
    // A body that comes once must not meet a connection that is about to close.
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

  released(connection: LeanConnection, keepAliveMs: number): void {
    if (this.isClosed) {
      connection.destroy();
      return;
    }
    connection.idleUntilMs = performance.now() + keepAliveMs;
    this.#idle.push(connection);
    if (this.#idle.length === 1) this.#sweep.add(this);
  }

  closed(connection: LeanConnection): void {
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }

  sessionCame(session: Buffer): void {
    this.#session = session;
  }

  close(): void {
    this.isClosed = true;
    for (const connection of this.#idle) connection.destroy();
    this.#idle = [];
    this.#sweep.delete(this);
  }

  sweep(nowMs: number): void {
    const kept: LeanConnection[] = [];
    for (const connection of this.#idle) {
      if (connection.isClosed) continue;
      if (connection.idleUntilMs > nowMs) kept.push(connection);
      else connection.destroy();
    }
    this.#idle = kept;
    if (kept.length === 0) this.#sweep.delete(this);
  }
}
