import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { LeanClient } from '#base/http/lean-client.ts';

/*
 * Measures the cost of Node.js itself. Reads and parses a call, forwards it with another model name, and returns the reply. Uses
 * only `node:http` and the HTTP client of Parley. Usage: bare-relay.ts PORT UPSTREAM_PORT
 */
const [port = 0, upstreamPort = 0] = process.argv.slice(2).map(Number);
const client = new LeanClient();
const url = new URL(`http://127.0.0.1:${upstreamPort}/v1/chat/completions`);
const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-upstream' };
const timeouts = { connectMs: 10_000, firstByteMs: 60_000, idleMs: 60_000 };

function relay(text: string, response: ServerResponse): void {
  const body = JSON.stringify({ ...JSON.parse(text), model: 'upstream-model' });
  client.send(
    { method: 'POST', url, headers, body, timeouts },
    {
      head: (status, { 'content-type': type = '', 'content-length': length }) =>
        response.writeHead(status, { 'content-type': type, ...(length !== undefined && { 'content-length': length }) }),
      bytes: (piece) => response.write(piece, 'latin1'),
      end: () => response.end(),
      fail: () => response.destroy(),
    },
  );
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'POST') return void response.end('ready');
  const pieces: Buffer[] = [];
  request.on('data', (piece) => pieces.push(piece)).on('end', () => relay(Buffer.concat(pieces).toString(), response));
}

createServer(serve).listen(port, '127.0.0.1');
