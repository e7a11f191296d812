import { type IncomingHttpHeaders, type IncomingMessage, request as openRequest } from 'node:http';
import type { Completion } from '#contract/chat/chunk.ts';
import type { ErrorBody } from '#contract/errors/error-body.ts';
import { StreamReader } from './read-events.ts';

/** A request that is sent exactly as given. */
export interface TestRequest {
  /** Default: POST. */
  readonly method?: string;
  /** Sent unchanged, without normalization or encoding. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown;
}

/** A complete response. */
export interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
  readonly error: ErrorBody;
  readonly completion: Completion;
}

/** Sends a request and reads the complete response. */
export async function sendRequest(url: string, options: TestRequest): Promise<TestResponse> {
  const response = await send(url, options);
  let text = '';
  response.setEncoding('utf8');
  for await (const piece of response) text += piece;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text) as unknown;
    },
    get error() {
      return (JSON.parse(text) as { error: ErrorBody }).error;
    },
    get completion() {
      return JSON.parse(text) as Completion;
    },
  };
}

/** Sends a request. Resolves when the response header arrives. */
export async function openStream(url: string, options: TestRequest): Promise<StreamReader> {
  return new StreamReader(await send(url, options));
}

/** Sends a request. The returned function disconnects, even before a response header arrives. */
export function sendAndDisconnect(url: string, options: TestRequest): { disconnect(): number } {
  const request = open(url, options);
  request.on('error', () => undefined);
  return {
    disconnect() {
      request.destroy();
      return performance.now();
    },
  };
}

function send(url: string, options: TestRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    open(url, options).once('response', resolve).on('error', reject);
  });
}

function open(url: string, { method = 'POST', path, headers = {}, body }: TestRequest) {
  const { hostname, port } = new URL(url);
  const bytes = toBytes(body);
  const length: Record<string, string> =
    bytes === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': String(bytes.length) };
  const request = openRequest({ hostname, port, method, path, agent: false, headers: { ...length, ...headers } });
  request.setNoDelay(true);
  request.end(bytes);
  return request;
}

function toBytes(body: unknown): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
