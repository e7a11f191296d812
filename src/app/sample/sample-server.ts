import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type JsonObject, toObject, tryParseJson } from '#base/json/json.ts';
import type { Secret } from '#base/secrets/secret.ts';

/** Address in the loopback network that other servers on a machine rarely use. */
const sampleHost = '127.83.77.1';
const maxBodyBytes = 64 * 1024;

const openingHours: ReadonlyMap<string, { readonly opens: string; readonly closes: string }> = new Map([
  ['monday', { opens: '14:00', closes: '19:00' }],
  ['tuesday', { opens: '10:00', closes: '19:00' }],
  ['wednesday', { opens: '10:00', closes: '21:00' }],
  ['thursday', { opens: '10:00', closes: '19:00' }],
  ['friday', { opens: '10:00', closes: '17:30' }],
  ['saturday', { opens: '09:30', closes: '16:00' }],
]);

const bookStatuses: ReadonlyMap<string, string> = new Map([
  ['the hobbit', 'The Hobbit: 2 of 3 copies are in, on shelf F-27.'],
  ['emma', 'Emma: the only copy is lent until Friday. It has no reservations.'],
  ['moby-dick', 'Moby-Dick: 1 copy is in, on shelf M-12.'],
  ['frankenstein', 'Frankenstein: both copies are lent, and 1 member is waiting.'],
]);

/** Days that the sample library accepts. The parameter schema of its REST tool lists them. */
export const days: readonly string[] = [...openingHours.keys(), 'sunday'];

/** Loans of the only member of the sample library. */
const memberLoans =
  'You have 2 books: "The Time Machine", due back in 4 days, and "Walden", due back in 11 days. Both can be renewed once more.';

/** Web API and MCP server of the sample library, inside this process. */
export interface SampleServer {
  readonly origin: string;
  /** Bearer token that requests must have. */
  readonly secret: Secret;
  close(): Promise<void>;
}

/** Listens on a free port. Rejects if the address is not available. */
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
  const route = `${request.method} ${url?.pathname}`;
  if (route === 'GET /opening-hours') {
    const hours = findOpeningHours(url?.searchParams.get('day') ?? '');
    return hours === undefined
      ? send(response, 400, { error: 'The parameter day is not a day of the week.' })
      : send(response, 200, hours);
  }
  if (route !== 'POST /mcp')
    return send(response, url?.pathname === '/mcp' ? 405 : 404, { error: 'No route matches this method and path.' });
  const body = await readBody(request);
  if (body === undefined) return send(response, 413, { error: 'The request body is too large.' });
  const reply = answerMessage(tryParseJson(body));
  if (reply === undefined) response.writeHead(202).end();
  else send(response, 200, reply);
}

function isAllowed({ headers }: IncomingMessage, secret: Secret): boolean {
  const actual = Buffer.from(headers.authorization ?? '');
  const expected = Buffer.from(`Bearer ${secret.reveal()}`);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/**
 * Returns the body, or undefined if it is too long. Reads a long body to its end anyway, so that the connection can be reused.
 */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
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

interface LibraryTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly run: (args: JsonObject) => string;
}

const latestProtocolVersion = '2025-11-25';
const protocolVersions = ['2025-03-26', '2025-06-18', latestProtocolVersion];
const serverInfo = { name: 'hill-street-library', version: '1.0.0' };
const methodNotFound = -32_601;
const invalidParams = -32_602;
const invalidRequest = -32_600;

const tools: readonly LibraryTool[] = [
  {
    name: 'book_status',
    description: 'Returns whether a book with this title is on the shelf or lent',
    inputSchema: {
      type: 'object',
      properties: { title: { type: 'string', description: 'Title of the book' } },
      required: ['title'],
    },
    run: ({ title }) => describeBookStatus(String(title)),
  },
  {
    name: 'member_loans',
    description: 'Lists the books that the member has borrowed and when they must be returned',
    inputSchema: { type: 'object', properties: {} },
    run: () => memberLoans,
  },
];

/** Returns the response to one message of an MCP client, or undefined for a notification. */
function answerMessage(message: unknown): JsonObject | undefined {
  if (!isJsonObject(message) || typeof message.method !== 'string')
    return { jsonrpc: '2.0', id: null, error: { code: invalidRequest, message: 'Invalid request' } };
  const { id, method, params } = message;
  if (id === undefined) return undefined;
  return { jsonrpc: '2.0', id, ...answerMethod(method, toObject(params)) };
}

function answerMethod(method: string, params: JsonObject): JsonObject {
  switch (method) {
    case 'initialize':
      return { result: { protocolVersion: negotiateProtocolVersion(params), capabilities: { tools: {} }, serverInfo } };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: tools.map(({ run: _, ...publicTool }) => publicTool) } };
    case 'tools/call':
      return callTool(params);
    default:
      return { error: { code: methodNotFound, message: 'Method not found' } };
  }
}

function negotiateProtocolVersion({ protocolVersion: requestedVersion }: JsonObject): unknown {
  return protocolVersions.find((revision) => revision === requestedVersion) ?? latestProtocolVersion;
}

function callTool({ name, arguments: args }: JsonObject): JsonObject {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) return { error: { code: invalidParams, message: 'Unknown tool' } };
  return { result: { content: [{ type: 'text', text: tool.run(toObject(args)) }] } };
}

/** Returns the opening hours, or undefined if the text is not a day. */
function findOpeningHours(day: string): Readonly<Record<string, string>> | undefined {
  const dayName = day.toLowerCase();
  if (!days.includes(dayName)) return undefined;
  return { day: dayName, ...(openingHours.get(dayName) ?? { closed: 'all day' }) };
}

/** Returns the status of a book, or a text with some titles of the library. */
function describeBookStatus(title: string): string {
  const status = bookStatuses.get(title.trim().toLowerCase());
  return (
    status ?? `Hill Street Library has no book of this title. It has, for example, The Hobbit, Emma, Moby-Dick, and Frankenstein.`
  );
}
