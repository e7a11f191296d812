import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LeanClient } from '#base/http/lean-client.ts';
import { fuzzRuns } from '#test/same-cases.ts';
import { type ScriptedReply, scriptedReply } from './reply-arbitrary.ts';
import { longTimeouts, Recording, Servers, toPost } from './support.ts';

const runs = fuzzRuns ?? 1500;

/**
 * Replies that the lean client rejects although Node's parser accepts them. This is intended, because two parsers could read two
 * replies.
 */
const stricter = new Set([
  // An empty line before the status line, a status below 100, versions other than 1.0 and 1.1.
  'not an HTTP/1 status line',
  // RFC 9112, 6.1: HTTP/1.0 has no transfer-encoding. The client requests only chunked, so other codings are invalid.
  'transfer-encoding in HTTP/1.0',
  'a transfer-encoding other than chunked',
  'two transfer-encoding fields',
  'transfer-encoding in a trailer',
  // RFC 9110, 8.6 and RFC 9112, 6.1: such replies have no body, so they must not announce one.
  'a body announced with status 1xx, 204 or 304',
  // Node skips a 101 without an upgrade header.
  'an unrequested upgrade',
  // Sizes above 2^53 or with more than 16 digits, and extensions above 1 kB or without a name or a value.
  'a chunk is too large',
  'a chunk line is too long',
  'a chunk extension is malformed',
]);

interface Outcome {
  readonly accepted: boolean;
  readonly status: number;
  readonly headers: [string, string][];
  readonly body: string;
  readonly reason: string;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits two turns of the event loop after each piece, so that the client reads each piece separately. */
async function serve(socket: Socket, reply: ScriptedReply): Promise<void> {
  for (const piece of reply.pieces) {
    if (socket.destroyed) return;
    socket.write(piece, 'latin1');
    await nextTurn();
    await nextTurn();
  }
  socket.end();
}

async function sendWithLeanClient(url: string): Promise<Outcome> {
  const client = new LeanClient();
  const recording = new Recording();
  client.send(toPost(url, 'x', { timeouts: longTimeouts }), recording);
  const { status, headers, body, error } = await recording.settled;
  client.close();
  return { accepted: error === null, status, headers: Object.entries(headers), body, reason: error?.message ?? '' };
}

function sendWithNode(url: string): Promise<Outcome> {
  return new Promise((resolve) => {
    let reply: IncomingMessage | null = null;
    let body = '';
    let reason = '';
    const request = httpRequest(
      url,
      { method: 'POST', agent: false, insecureHTTPParser: false, maxHeaderSize: 65_536 },
      (response) => {
        reply = response;
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString('latin1');
        });
        response.on('error', () => undefined);
        response.on('close', () => {
          const headers = joinRaw(response.rawHeaders);
          resolve({
            accepted: response.complete && response.readableEnded,
            status: response.statusCode ?? 0,
            headers,
            body,
            reason,
          });
        });
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) => {
      reason = `${error.code} ${error.message}`;
    });
    request.on('close', () => {
      if (reply === null) resolve({ accepted: false, status: 0, headers: [], body: '', reason });
    });
    request.end('x');
  });
}

function joinRaw(raw: readonly string[]): [string, string][] {
  const joined = new Map<string, string>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? '';
    const value = (raw[index + 1] ?? '').replace(/^[ \t]+|[ \t]+$/g, '');
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return [...joined];
}

it(`accepts only replies that Node's parser accepts, with the same content, in ${runs} replies`, {
  timeout: 60_000 + runs * 20,
}, async () => {
  await using servers = new Servers();
  let current: ScriptedReply = { pieces: [] };
  const url = await servers.startRaw((socket) => {
    socket.once('data', () => void serve(socket, current));
    socket.once('close', () => servers.sockets.splice(servers.sockets.indexOf(socket), 1));
  });
  const counts = { bothAccept: 0, bothRefuse: 0, stricter: new Map<string, number>() };
  const property = fc.asyncProperty(scriptedReply, async (reply) => {
    current = reply;
    const lean = await sendWithLeanClient(url);
    const node = await sendWithNode(url);
    if (lean.accepted) {
      counts.bothAccept++;
      expect(node.reason === '' || node.accepted, `Node: ${node.reason}`).toBe(true);
      expect({ ...lean, reason: '' }).toEqual({ ...node, reason: '' });
    } else if (node.accepted) {
      const reason = lean.reason.replace('the reply is not valid HTTP: ', '').replace(/status \d+/, 'status 1xx, 204 or 304');
      counts.stricter.set(reason, (counts.stricter.get(reason) ?? 0) + 1);
      expect(stricter, `refused: ${reason}`).toContain(reason);
    } else counts.bothRefuse++;
  });
  await fc.assert(property, { numRuns: runs });
  if (fuzzRuns !== undefined) process.stdout.write(`${JSON.stringify({ ...counts, stricter: [...counts.stricter] })}\n`);
  expect(counts.bothAccept).toBeGreaterThan(runs / 5);
  expect(counts.bothRefuse).toBeGreaterThan(runs / 20);
});
