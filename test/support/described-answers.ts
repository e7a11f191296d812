import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { DocumentedOperation, OpenApiDocument } from './documented.ts';

/** A response of a test service as its client received it. */
export interface RecordedAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Media type, or an empty string without one. */
  readonly type: string;
  readonly text: string;
  /** Whether the response was sent completely. */
  readonly isComplete: boolean;
  readonly getOpenApiDocument: () => OpenApiDocument;
}

/** Longer responses, such as files and overload tests, are not recorded. */
const maxTextChars = 1_000_000;

let recordedAnswers: RecordedAnswer[] = [];
let hasNonconformingUpstreams = false;

/** For test files whose upstreams deliberately deviate from their API. Disables the checks of replies that the service relays. */
export function allowNonconformingUpstreams(): void {
  hasNonconformingUpstreams = true;
}

/** Enables the checks again for the next test file, which may run in the same process. */
export function requireConformingUpstreams(): void {
  hasNonconformingUpstreams = false;
}

export function areNonconformingUpstreamsAllowed(): boolean {
  return hasNonconformingUpstreams;
}

/** Returns the responses since the last call and clears the record. */
export function takeRecordedAnswers(): readonly RecordedAnswer[] {
  const answers = recordedAnswers;
  recordedAnswers = [];
  return answers;
}

/** Records the responses of a server until the test ends and they are checked against the description. */
export function recordAnswers(server: Server, getOpenApiDocument: RecordedAnswer['getOpenApiDocument']): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '' } = request;
    const [path = ''] = url.split('?', 1);
    const pieces: Buffer[] = [];
    let length = 0;
    const collect = (chunk: unknown, encoding: unknown): void => {
      if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
      length += chunk.length;
      if (length > maxTextChars) return;
      pieces.push(typeof chunk === 'string' ? Buffer.from(chunk, toEncoding(encoding)) : Buffer.from(chunk));
    };
    for (const name of ['write', 'end'] as const) {
      const send = response[name] as (...all: unknown[]) => unknown;
      Object.assign(response, {
        [name]: (...all: unknown[]) => {
          collect(all[0], all[1]);
          return send.apply(response, all);
        },
      });
    }
    response.once('close', () => {
      if (!response.headersSent || length > maxTextChars) return;
      const head = String(Reflect.get(response, '_header'));
      const type = /^content-type: *([^;\r]*)/im.exec(head)?.[1] ?? '';
      const body = Buffer.concat(pieces);
      const isCompressed = type === 'application/json' && /^content-encoding: *gzip\r/im.test(head) && response.writableFinished;
      const text = (isCompressed ? gunzipSync(body) : body).toString();
      recordedAnswers.push({
        method,
        path,
        status: response.statusCode,
        type,
        text,
        isComplete: response.writableFinished,
        getOpenApiDocument,
      });
    });
  });
}

function toEncoding(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8';
}

/** Returns the values that must match the schema of a media type. */
export function toValues(type: string, text: string): readonly unknown[] {
  if (/json$/.test(type)) return [JSON.parse(text)];
  if (type !== 'text/event-stream') return [text];
  const data = [...text.matchAll(/^data: (.*)\r?\n\r?\n/gm)].map(([, value = '']) => value).filter((value) => value !== '[DONE]');
  return data.map((value) => JSON.parse(value));
}

/** Finds the operation of a path. If several match, the most literal pattern wins, because IDs may contain slashes. */
export function findOperation(
  operations: readonly DocumentedOperation[],
  method: string,
  path: string,
): DocumentedOperation | undefined {
  const literal = ({ path: pattern }: DocumentedOperation): number => pattern.replaceAll(/\{\w+\}/g, '').length;
  const [best] = operations
    .filter((operation) => toForm(operation.path).test(path))
    .sort((left, right) => literal(right) - literal(left));
  const acceptedMethods = method === 'HEAD' ? ['head', 'get'] : [method.toLowerCase()];
  return best && operations.find((operation) => operation.path === best.path && acceptedMethods.includes(operation.method));
}

const forms = new Map<string, RegExp>();

function toForm(pattern: string): RegExp {
  const cached = forms.get(pattern);
  if (cached !== undefined) return cached;
  const source = pattern
    .replaceAll(/[.$]/g, '\\$&')
    .replaceAll(/\{(id|path)\}/g, '.+')
    .replaceAll(/\{\w+\}/g, '[^/]+');
  const form = new RegExp(`^${source}$`);
  forms.set(pattern, form);
  return form;
}
