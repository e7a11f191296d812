import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { waitUntilListening } from '#test/listening.ts';

const boundary = 'of-the-caller';

export const formType = `multipart/form-data; boundary=${boundary}`;

export interface Part {
  readonly name: string;
  readonly value: string | Buffer;
  /** If set, the part is a file. */
  readonly filename?: string;
}

/** Encodes a multipart form as clients do. */
export function toForm(...parts: readonly Part[]): Buffer {
  return Buffer.concat([...parts.map(toPart), Buffer.from(`--${boundary}--\r\n`)]);
}

export function toPart({ name, value, filename }: Part): Buffer {
  const file = filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: audio/wav`;
  const head = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`);
  return Buffer.concat([head, Buffer.from(value), Buffer.from('\r\n')]);
}

export const sound: Part = { name: 'file', filename: 'a.wav', value: 'RIFF' };

export interface RawUpstream extends AsyncDisposable {
  readonly endpoint: string;
  /** Number of received requests. */
  readonly requestCount: number;
}

/** Starts an upstream that passes each request on before its body is read. */
export async function startRawUpstream(
  answer: (request: IncomingMessage, response: ServerResponse, index: number) => void | Promise<void>,
): Promise<RawUpstream> {
  let requestCount = 0;
  const server = createServer((request, response) => {
    request.on('error', () => undefined);
    void answer(request, response, requestCount++);
  });
  server.listen(0, '127.0.0.1');
  await waitUntilListening(server);
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get requestCount() {
      return requestCount;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Parses a form with a standard parser. */
export async function readForm(request: IncomingMessage): Promise<FormData> {
  const body = await buffer(request);
  return new Response(body, { headers: { 'content-type': request.headers['content-type'] ?? '' } }).formData();
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
