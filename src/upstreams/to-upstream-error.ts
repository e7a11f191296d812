import { HttpError } from '#base/http/client.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';

/** Returns the error for an upstream that closed the connection before any part of the reply. */
export function createUnansweredError(cause?: unknown): UpstreamError {
  return new UpstreamError('unreachable', 'The upstream closed the connection without an answer.', { cause });
}

/**
 * Converts an HTTP error that occurred before any part of the reply. A connection that closes this early counts as unreachable.
 */
export function toEarlyError(error: unknown): unknown {
  return error instanceof HttpError && error.kind === 'closed' ? createUnansweredError(error) : toUpstreamError(error);
}

/** Returns the error for a reply that ends before its end mark. */
export function createIncompleteError(): UpstreamError {
  return new UpstreamError('broken', 'The upstream ended its reply before it was complete.');
}

/** Converts an HTTP error to an `UpstreamError`. Returns other errors unchanged. */
export function toUpstreamError(error: unknown): unknown {
  if (!(error instanceof HttpError)) return error;
  switch (error.kind) {
    case 'connect':
    case 'connect_timeout': {
      const message = `The upstream cannot be reached: ${getConnectReason(error)}.`;
      return new UpstreamError('unreachable', message, { cause: error, isBeforeRequest: true });
    }
    case 'first_byte_timeout':
      return new UpstreamError('timeout', 'The upstream did not answer in time.', { cause: error });
    case 'idle_timeout':
      return new UpstreamError('broken', 'The upstream stopped sending in the middle of its answer.', { cause: error });
    case 'body':
      return error.cause;
    case 'unsendable':
      return new UpstreamError('broken', `The request to the upstream cannot be sent: ${error.message}.`, { cause: error });
    case 'too_large':
      return new UpstreamError('broken', `The response of the upstream is too large: ${error.message}.`, { cause: error });
    default:
      return new UpstreamError('broken', 'The upstream ended its response early.', { cause: error });
  }
}

const connectReasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name was not found in DNS',
  EAI_AGAIN: 'DNS did not respond',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to its host',
  ENETUNREACH: 'there is no route to its host',
};
const tlsCode = /CERT|^ERR_(?:TLS|SSL)|^EPROTO$|UNABLE_TO_|SELF_SIGNED/;

/** Returns why no connection was established, without addresses, which may be internal. */
function getConnectReason({ kind, cause }: HttpError): string {
  if (kind === 'connect_timeout') return 'the connection timed out';
  const code = cause instanceof Error ? String((cause as NodeJS.ErrnoException).code) : '';
  if (tlsCode.test(code)) return `the TLS handshake failed (${code})`;
  return connectReasons[code] ?? 'the connection failed';
}
