import { type HttpBody, HttpFault, type HttpRequest, type ReplyHeaders, type ReplyListener } from './client.ts';
import type { Sweep } from './sweep.ts';
import { TimedExchange } from './timed-exchange.ts';

const noBody = '';

/** The part of a connection that an exchange steers. */
interface Carrier {
  destroy(): void;
  setPaused(paused: boolean): void;
}

/** One request on its way. Forgets what it sent once the reply began. */
export class LeanExchange extends TimedExchange {
  /** Request line and fields with the empty line, as latin1 text. */
  requestHead: string;
  body: HttpBody;
  connection: Carrier | null = null;
  mayBeResent: boolean;

  constructor(request: HttpRequest, requestHead: string, listener: ReplyListener, sweep: Sweep) {
    super(request.timeouts, listener, sweep);
    this.requestHead = requestHead;
    this.body = request.body ?? noBody;
    this.mayBeResent = request.isOnce !== true;
  }

  connecting(connection: Carrier): void {
    this.connection = connection;
    this.startConnecting();
  }

  sent(connection: Carrier): void {
    this.connection = connection;
    this.startWaiting();
  }

  head(status: number, headers: ReplyHeaders): void {
    this.requestHead = '';
    this.body = noBody;
    this.startBody();
    this.listener.head(status, headers);
  }

  bytes(content: string): void {
    this.heard();
    this.listener.bytes(content);
  }

  /** The reply is whole and the connection already let go of. */
  over(): void {
    this.connection = null;
    this.finish();
  }

  lost(cause: unknown): void {
    if (this.stage === 'connecting') this.fail(new HttpFault('connect', 'no connection', cause));
    else this.fail(new HttpFault('closed', 'the connection closed before the reply was whole', cause));
  }

  protected drop(): void {
    this.connection?.destroy();
    this.connection = null;
    this.requestHead = '';
    this.body = noBody;
  }

  protected applyPause(paused: boolean): void {
    this.connection?.setPaused(paused);
  }
}
