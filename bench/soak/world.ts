import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** Services that a node calls under load: models of two dialects, a REST tool, and an identity provider, all on one port. */
export interface World {
  readonly url: string;
  /** Returns a token of this user that is valid for ten minutes. */
  token(user: string): Promise<string>;
  close(): void;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

interface ModelRequest {
  readonly stream?: boolean;
  readonly input?: unknown;
  readonly tools?: readonly unknown[];
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
}

const streamedChunks = 20;
const chunkPauseMs = 15;
const dimensions = 256;
const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const chunkHead = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'upstream-model' };

export async function startWorld(): Promise<World> {
  const keys = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'soak', alg: 'ES256', use: 'sig' };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answers: Readonly<Record<string, Answer>> = {
    '/v1/chat/completions': answerChat,
    '/v1/messages': answerMessage,
    '/v1/embeddings': answerEmbeddings,
    '/tool': (_request, response) => sendJson(response, { rows: [{ opens: '9:00', closes: '17:00' }] }),
    '/.well-known/openid-configuration': (_request, response) => sendJson(response, { issuer: url, jwks_uri: `${url}/keys` }),
    '/keys': (_request, response) => sendJson(response, { keys: [jwk] }),
  };
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', url);
    await answers[pathname]?.(request, response);
    if (!response.headersSent) response.writeHead(404).end();
  }
  const token = (user: string): Promise<string> =>
    new SignJWT({ name: user })
      .setProtectedHeader({ alg: 'ES256', kid: 'soak' })
      .setIssuer(url)
      .setSubject(user)
      .setExpirationTime('10m')
      .sign(keys.privateKey);
  return { url, token, close: () => void server.close() };
}

async function readRequest(request: IncomingMessage): Promise<ModelRequest> {
  return JSON.parse(await text(request)) as ModelRequest;
}

function sendJson(response: ServerResponse, body: object): void {
  const json = JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) }).end(json);
}

function toEvent(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ ...chunkHead, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}

/** Writes the pieces until the reader disconnects. */
async function sendStream(response: ServerResponse, pieces: readonly string[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of pieces) {
    if (response.destroyed) return;
    response.write(piece);
    await sleep(chunkPauseMs);
  }
  response.end();
}

/** Calls the offered tool once. Other replies are text. */
async function answerChat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { stream, tools, messages = [] } = await readRequest(request);
  const isCalling = tools !== undefined && !messages.some(({ role }) => role === 'tool');
  const tool_calls = [
    { index: 0, id: 'call_1', type: 'function', function: { name: 'opening_hours', arguments: '{"branch":"main"}' } },
  ];
  if (stream !== true) {
    const message = { role: 'assistant', content: 'A reply of some words. '.repeat(20) };
    return sendJson(response, {
      ...chunkHead,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    });
  }
  const events = Array.from({ length: streamedChunks }, (_, index) => toEvent({ content: `word ${index} ` }));
  const allEvents = isCalling
    ? [toEvent({ role: 'assistant', content: null, tool_calls }), toEvent({}, 'tool_calls')]
    : [...events, toEvent({}, 'stop')];
  await sendStream(response, [
    ...allEvents,
    `data: ${JSON.stringify({ ...chunkHead, choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ]);
}

async function answerMessage(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { stream } = await readRequest(request);
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream-model', stop_sequence: null };
  const used = { input_tokens: 100, output_tokens: 20 };
  if (stream !== true) {
    const content = [{ type: 'text', text: 'A reply of some words. '.repeat(20) }];
    return sendJson(response, { ...head, content, stop_reason: 'end_turn', usage: used });
  }
  const event = (type: string, fields: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const events = Array.from({ length: streamedChunks }, (_, index) =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: `word ${index} ` } }),
  );
  await sendStream(response, [
    event('message_start', { message: { ...head, content: [], stop_reason: null, usage: used } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...events,
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 20 } }),
    event('message_stop', {}),
  ]);
}

/** Returns a vector for each text. Different texts have different vectors. */
async function answerEmbeddings(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { input } = await readRequest(request);
  const inputs = Array.isArray(input) ? input : [input];
  const data = inputs.map((item, index) => {
    const digest = createHash('sha256').update(JSON.stringify(item)).digest();
    const embedding = Array.from({ length: dimensions }, (_, index) => (digest[index % digest.length] ?? 0) / 255 - 0.5);
    return { object: 'embedding', index, embedding };
  });
  sendJson(response, { object: 'list', data, model: 'upstream-model', usage: { prompt_tokens: 10, total_tokens: 10 } });
}
