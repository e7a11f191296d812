import {
  type DocumentedOperation,
  type ExampleRequest,
  type OpenApiDocument,
  readOperations,
  toRequests,
} from '#test/documented.ts';
import { type Schema, SchemaValues } from '../fuzz/from-schema.ts';
import type { RouteInput } from '../fuzz/route-inputs.ts';
import type { Random } from '../random.ts';
import { toFieldValue } from './framing.ts';
import { lengths, spoilOnePlace, toJson } from './places.ts';
import { type DrawnText, drawText } from './texts.ts';

/** Longer URLs are rejected with 431 before a route receives them. */
const maxUrlLength = 12_000;
const fieldLengths = [40, 2_000, 12_000];
const maxFields = 900;

/** Header fields that the service reads, each with the starts of valid values. */
const headerFields: Readonly<Record<string, readonly string[]>> = {
  ...toTable([
    'api-key',
    'x-api-key',
    'x-request-id',
    'x-parley-tags',
    'x-parley-trace',
    'x-parley-include-cost',
    'cookie',
    'host',
  ]),
  ...toTable(['x-claude-code-session-id', 'session_id', 'session-id', 'conversation_id', 'x-conversation-id', 'idempotency-key']),
  ...toTable([
    'mcp-session-id',
    'mcp-protocol-version',
    'mcp-method',
    'mcp-name',
    'last-event-id',
    'x-core-cache-policy',
    'x-key',
  ]),
  ...toTable([
    'user-agent',
    'accept-language',
    'referer',
    'x-real-ip',
    'msgapi-version',
    'x-dial-application-id',
    'x-dial-override-name',
  ]),
  ...toTable([
    'access-control-request-method',
    'x-upstream-endpoint',
    'x-dial-deployment-id',
    'upgrade',
    'openai-beta',
    'trailer',
  ]),
  'access-control-request-headers': ['', 'x-a, '],
  'mcp-param-a': ['', '=?base64?'],
  authorization: ['', 'Bearer ', 'Basic ', 'Bearer eyJhbGciOiJSUzI1NiJ9.', 'Bearer eyJhbGciOiJSUzI1NiJ9.e30.'],
  'anthropic-version': ['', '2023-06-01'],
  'anthropic-beta': ['', 'a,'],
  'content-type': [
    '',
    'application/json;',
    'application/json; charset=',
    'multipart/form-data; boundary=',
    'text/',
    'application/',
  ],
  'content-encoding': ['', 'gzip, '],
  accept: ['', 'text/event-stream;q=', 'application/json, '],
  'accept-encoding': ['', 'gzip;q=', 'br, '],
  range: ['', 'bytes=', 'bytes=0-'],
  'if-range': ['', '"'],
  'if-match': ['', '"', 'W/"', '"a", '],
  'if-none-match': ['', '"', 'W/"', '"a", '],
  'if-modified-since': ['', 'Mon, 01 Jan 2024 '],
  origin: ['', 'https://', 'null, '],
  forwarded: ['', 'for=', 'for=1.1.1.1;host="'],
  'x-forwarded-for': ['', '1.1.1.1, '],
  'x-forwarded-proto': ['', 'https, '],
  'x-forwarded-host': ['', 'a.test, '],
  traceparent: ['', '00-', '00-0123456789abcdef0123456789abcdef-0123456789abcdef-'],
  tracestate: ['', 'a=', 'a=b,'],
  baggage: ['', 'a=', 'a=b;'],
  connection: ['keep-alive, '],
  'cache-control': ['', 'max-age='],
  prefer: ['', 'wait='],
};

function toTable(names: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(names.map((name) => [name, ['']]));
}

/** Header fields that replace a field of the request itself. */
const ownHeaders: ReadonlySet<string> = new Set(['host', 'api-key', 'content-type']);
/** Paths that the description lacks. */
const morePaths = [
  '/',
  '/docs/',
  '/assets/',
  '/openai/deployments/demo/',
  '/v1/files/public/',
  '/applications/',
  '/mcp/',
  '/v1/demo/',
];

/** The difference from a valid request. */
interface Change {
  readonly field: string;
  readonly url?: string;
  readonly body?: Buffer;
  readonly type?: string;
  readonly headers?: readonly (readonly [string, string])[];
}

/**
 * Requests that are valid except for one hostile text, list, or object in a header field, a body field, a key, the query, or a
 * path segment. Bodies are examples of the description or values of its schemas, so that optional fields are tested too.
 */
export class TextInputs {
  readonly #key: string;
  readonly #requests: readonly ExampleRequest[];
  readonly #resolve: (reference: string) => Schema;

  constructor(document: OpenApiDocument, key: string) {
    this.#key = key;
    this.#requests = readOperations(document).flatMap(toRequests);
    this.#resolve = (reference) => (document.components.schemas[reference.split('/').at(-1) ?? ''] ?? {}) as Schema;
  }

  /** Draws one request. It is the same for the same numbers. */
  draw({ kind, isLarge }: { readonly kind: 'header' | 'route'; readonly isLarge: boolean }, random: Random): RouteInput {
    const base = random.pick(this.#requests);
    const hostile = drawText(random, isLarge);
    const { field, url = base.url, headers = [], ...change } = this.#change(kind, base, hostile, random);
    const body = change.body ?? toExampleBody(base, random);
    const type = change.type ?? base.body?.type.replace('*/*', 'text/plain');
    const replaced = new Set(headers.map(([name]) => name));
    const method = base.operation.method.toUpperCase();
    const fields = [
      ...[['host', 'x'], ['api-key', this.#key], ...Object.entries(base.headers)],
      ...(type === undefined || body.length === 0 ? [] : [['content-type', type]]),
    ].filter(([name = '']) => !(ownHeaders.has(name) && replaced.has(name)));
    const length = body.length > 0 || method !== 'GET' ? [['content-length', String(body.length)]] : [];
    const lines = [...fields, ...length, ...headers].map(([name, value]) => `${name}: ${value}`);
    const head = Buffer.from(`${[`${method} ${url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`, 'latin1');
    const title = `${kind} ${method} ${base.operation.path} ${field}: ${hostile.name}`;
    return { title, isHead: method === 'HEAD', bytes: Buffer.concat([head, body]) };
  }

  #change(kind: 'header' | 'route', base: ExampleRequest, hostile: DrawnText, random: Random): Change {
    if (kind === 'header') return drawHeaders(hostile, random);
    if (base.body === undefined || random.chance(0.2)) return drawUrl(base, hostile, random);
    return /json/.test(base.body.type) ? this.#drawBody(base, hostile, random) : drawOtherBody(base.body.type, hostile, random);
  }

  #drawBody({ operation, body }: ExampleRequest, hostile: DrawnText, random: Random): Change {
    const schema = operation.requestBody?.content[body?.type ?? '']?.schema as Schema | undefined;
    const isGenerated = schema !== undefined && random.chance(0.5);
    const value = isGenerated ? new SchemaValues(random, this.#resolve, 0).make(schema) : structuredClone(body?.value);
    const { build, what } = spoilOnePlace(value, hostile, random);
    return { field: `body.${what}`, body: Buffer.from(toJson(build(), random)) };
  }
}

function toExampleBody({ body }: ExampleRequest, random: Random): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  return Buffer.from(/json/.test(body.type) ? toJson(body.value, random) : String(body.value));
}

/** Draws one field with a hostile value, or very many fields. */
function drawHeaders(hostile: DrawnText, random: Random): Change {
  const text = toFieldValue(hostile.build(random.pick(fieldLengths)));
  const name = random.pick(Object.keys(headerFields));
  const start = random.pick(headerFields[name] ?? ['']);
  if (random.chance(0.95)) return { field: `${name}: ${start}`, headers: [[name, `${start}${text}`]] };
  const isSame = random.chance(0.5);
  const count = Math.min(maxFields, Math.floor(12_000 / (name.length + start.length + 12)));
  const value = `${start}${text.slice(0, 4)}`;
  const headers = Array.from({ length: count }, (_, index) => [isSame ? name : `${name}-${index}`, value] as const);
  return { field: `${count} × ${name}`, headers };
}

/** Draws a form or a body of another type with hostile names or content. */
function drawOtherBody(type: string, hostile: DrawnText, random: Random): Change {
  const text = hostile.build(random.pick(lengths));
  if (!type.startsWith('multipart/')) return { field: `body of ${type}`, body: Buffer.from(text) };
  const target = random.pick(['boundary', 'name', 'filename', 'type', 'content', 'head', 'many parts']);
  const line = toFieldValue(text);
  const boundary = target === 'boundary' ? line.slice(0, 2_000) : 'x';
  const at = (candidate: string, good: string): string => (target === candidate ? line : good);
  const disposition = `content-disposition: form-data; name="${at('name', 'file')}"; filename="${at('filename', 'a.txt')}"`;
  const head = `${disposition}\r\ncontent-type: ${at('type', 'text/plain')}${target === 'head' ? `\r\nx: ${text}` : ''}`;
  const part = `--${boundary}\r\n${head}\r\n\r\n${target === 'content' ? text : 'a'}\r\n`;
  const form = `${part.repeat(target === 'many parts' ? hostile.limitCount(5_000) : 1)}--${boundary}--\r\n`;
  return { field: `form.${target}`, type: `multipart/form-data; boundary=${boundary}`, body: Buffer.from(form) };
}

/** Draws a hostile query value, query name, or path segment. */
function drawUrl({ operation, url }: ExampleRequest, hostile: DrawnText, random: Random): Change {
  const built = hostile.build(Math.min(random.pick(lengths), maxUrlLength)).toWellFormed();
  const isRaw = random.chance(0.2);
  const raw = Buffer.from(built, 'utf8')
    .toString('latin1')
    .replaceAll(/[^\x21-\x22\x24-\x7e\x80-\xff]/g, '');
  const text = (isRaw ? raw : encodeURIComponent(built)).slice(0, maxUrlLength);
  const joined = `${url}${url.includes('?') ? '&' : '?'}`;
  const names = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  switch (random.below(6)) {
    case 0:
      return { field: 'query', url: `${joined}${text}` };
    case 1: {
      const path = random.pick(morePaths);
      return { field: `path ${path}`, url: `${path}${text}` };
    }
    case 2:
    case 3: {
      const name = random.pick(['api-version', ...names, ...names]);
      return { field: `query.${name}`, url: `${joined}${name}=${text}` };
    }
    default: {
      const at = random.pick(listSegments(operation));
      return { field: `path.${operation.path.split('/')[at]}`, url: toHostilePath(url, at, text) };
    }
  }
}

/** Lists indexes of segments. Parameter segments occur as often as all other segments together. */
function listSegments({ path }: DocumentedOperation): readonly number[] {
  const all = path.split('/').map((segment, index) => ({ segment, index }));
  const parameters = all.filter(({ segment }) => segment.startsWith('{'));
  return [
    ...all.slice(1),
    ...(parameters.length === 0 ? [] : all.flatMap((_, index) => parameters[index % parameters.length] ?? [])),
  ].map(({ index }) => index);
}

function toHostilePath(url: string, at: number, text: string): string {
  const [path = '', query] = url.split('?', 2);
  const replaced = path.split('/').map((segment, index) => (index === at ? text : segment));
  return query === undefined ? replaced.join('/') : `${replaced.join('/')}?${query}`;
}
