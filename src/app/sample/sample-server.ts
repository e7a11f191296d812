import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tryParseJson } from '#base/json.ts';
import type { Secret } from '#base/secret.ts';
import { openingHours } from './library.ts';
import { answerMessage } from './library-tools.ts';

/** Of the loopback network, and not the one that other servers of a machine use. */
const sampleHost = '127.83.77.1';
const maxBodyBytes = 64 * 1024;

/** The web API and the MCP server of the sample library, inside this process. */
export interface SampleServer {
  readonly origin: string;
  /** Who calls without it is refused. */
  readonly secret: Secret;
  close(): Promise<void>;
}

/** Listens on a free port. Rejects where the address cannot be had. */
export async function startSampleServer(secret: Secret, host = sampleHost): Promise<SampleServer> {
  const server = createServer((request, response) => {
    answer(request, response, secret).catch(() => response.destroy());
  });
  server.listen(0, host).unref();
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { origin: `http://${host}:${port}`, secret, close: () => close(server) };
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
}

async function answer(request: IncomingMessage, response: ServerResponse, secret: Secret): Promise<void> {
  if (!isAllowed(request, secret)) return send(response, 401, { error: 'The bearer token is missing or wrong.' });
  const url = URL.parse(`http://${sampleHost}${request.url}`);
  const asked = `${request.method} ${url?.pathname}`;
  if (asked === 'GET /opening-hours') {
    const hours = openingHours(url?.searchParams.get('day') ?? '');
    return hours === undefined ? send(response, 400, { error: 'This is no day of the week.' }) : send(response, 200, hours);
  }
  if (asked !== 'POST /mcp') return send(response, url?.pathname === '/mcp' ? 405 : 404, { error: 'There is nothing here.' });
  const body = await read(request);
  if (body === undefined) return send(response, 413, { error: 'This is too long.' });
  const reply = answerMessage(tryParseJson(body));
  if (reply === undefined) response.writeHead(202).end();
  else send(response, 200, reply);
}

function isAllowed({ headers }: IncomingMessage, secret: Secret): boolean {
  const given = Buffer.from(headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${secret.reveal()}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Undefined where it is too long; it is read to its end all the same, so that the connection can be used again. */
async function read(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length <= maxBodyBytes) pieces.push(piece);
  }
  return length > maxBodyBytes ? undefined : Buffer.concat(pieces).toString();
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
