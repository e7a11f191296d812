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
    case 'connect_timeout':
      return new UpstreamFault('unreachable', 'The upstream cannot be reached.', { cause: thrown, isBeforeRequest: true });
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
