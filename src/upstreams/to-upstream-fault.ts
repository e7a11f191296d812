import { HttpFault } from '#base/http/client.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

/** The fault of an upstream that closed the connection before anything of an answer came. */
export function unanswered(cause?: unknown): UpstreamFault {
  return new UpstreamFault('unreachable', 'The upstream closed the connection without an answer.', { cause });
}

/** What went wrong on the wire before anything of the answer came: a connection that closes this early counts as unreachable. */
export function toEarlyFault(thrown: unknown): unknown {
  return thrown instanceof HttpFault && thrown.kind === 'closed' ? unanswered(thrown) : toUpstreamFault(thrown);
}

/** What went wrong on the wire, as a fault of the upstream; everything else as it is. */
export function toUpstreamFault(thrown: unknown): unknown {
  if (!(thrown instanceof HttpFault)) return thrown;
  switch (thrown.kind) {
    case 'connect':
    case 'connect_timeout': {
      const message = `The upstream cannot be reached: ${getConnectReason(thrown)}.`;
      return new UpstreamFault('unreachable', message, { cause: thrown, isBeforeRequest: true });
    }
    case 'first_byte_timeout':
      return new UpstreamFault('timeout', 'The upstream did not answer in time.', { cause: thrown });
    case 'idle_timeout':
      return new UpstreamFault('broken', 'The upstream fell silent in the middle of its answer.', { cause: thrown });
    case 'body':
      return thrown.cause;
    case 'unsendable':
      return new UpstreamFault('broken', `The request to the upstream cannot be sent: ${thrown.message}.`, { cause: thrown });
    default:
      return new UpstreamFault('broken', 'The upstream broke off its answer.', { cause: thrown });
  }
}

const connectReasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'DNS does not know its host name',
  EAI_AGAIN: 'DNS does not answer',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to its host',
  ENETUNREACH: 'there is no route to its host',
};
const tlsCode = /CERT|^ERR_(?:TLS|SSL)|^EPROTO$|UNABLE_TO_|SELF_SIGNED/;

/** Returns why no connection was established, without addresses: they may be internal. */
function getConnectReason({ kind, cause }: HttpFault): string {
  if (kind === 'connect_timeout') return 'the connection timed out';
  const code = cause instanceof Error ? String((cause as NodeJS.ErrnoException).code) : '';
  if (tlsCode.test(code)) return `the TLS handshake failed (${code})`;
  return connectReasons[code] ?? 'the connection failed';
}
