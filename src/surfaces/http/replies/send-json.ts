import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import { FairQueue, OwnerQuota } from '#base/isolation/fair-queue.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { endResponse } from './event-stream.ts';
import { privateFields } from './header-fields.ts';

/** Sends JSON text, given as latin1 bytes. Headers and body are one write at the end of this event loop turn. */
export function sendJson(
  response: ServerResponse,
  status: number,
  bytes: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    ...privateFields,
    ...headers,
  });
  setImmediate(endResponse, response, bytes);
}

/** Maximum number of unread bytes of each user. A single reply may have more. */
const maxUnreadBytes = 64 * 1024 ** 2;
const maxStalledMs = 60_000;

/**
 * Limits the replies of a route that each user has in memory. A reply is in memory until the client has read it. Without a
 * limit, clients that read nothing could use up the memory. The values of a user are read from the store one after another.
 */
export class LargeReplies {
  readonly #unreadBytes = new OwnerQuota(maxUnreadBytes, createTooManyError);
  readonly #reads = new FairQueue({ slots: Number.POSITIVE_INFINITY });

  /**
   * Sends the value that `read` returns as JSON, and returns when the client has read it or has disconnected. Throws `overloaded`
   * if the subject has too many unread bytes. Closes the connection if the client reads nothing for 60 s.
   */
  async send(subject: string, reply: FastifyReply, read: () => Promise<object>): Promise<FastifyReply> {
    const bytes = await this.#reads.run(subject, async () => Buffer.from(JSON.stringify(await read())));
    const release = this.#unreadBytes.take(subject, bytes.length);
    reply.type('application/json; charset=utf-8').send(bytes);
    reply.raw.setTimeout(maxStalledMs, () => reply.raw.destroy());
    // Rejects if the client disconnects.
    await finished(reply.raw).catch(() => undefined);
    release();
    return reply;
  }
}

function createTooManyError(): ParleyError {
  const message = `Your clients have not read ${maxUnreadBytes} bytes of earlier replies of this path. Read these replies first.`;
  return new ParleyError('overloaded', message, { retryAfterSeconds: 5, isClientCaused: true });
}
