import {
  type DocumentedOperation,
  type ExampleRequest,
  type OpenApiDocument,
  readOperations,
  toRequests,
} from '#test/documented.ts';
import { Random } from '../random.ts';
import { namesIn, type Schema, SchemaValues } from './from-schema.ts';
import { mutateJson, toText } from './mutate-json.ts';
import { oddWord } from './odd-values.ts';

/** The bytes of one request. */
export interface RouteInput {
  readonly title: string;
  readonly isHead: boolean;
  readonly bytes: Buffer;
}

/** Requests that are generated from a description. Each is an example or a value of a schema, with an error in it. */
export class RouteInputs {
  readonly #seed: number;
  readonly #key: string;
  readonly #requests: readonly ExampleRequest[];
  readonly #resolve: (reference: string) => Schema;
  readonly #names = new Map<DocumentedOperation, readonly string[]>();

  constructor(document: OpenApiDocument, { seed, key }: { readonly seed: number; readonly key: string }) {
    this.#seed = seed;
    this.#key = key;
    this.#requests = readOperations(document).flatMap(toRequests);
    this.#resolve = (reference) => (document.components.schemas[reference.split('/').at(-1) ?? ''] ?? {}) as Schema;
    const all = [...namesIn(document.components.schemas)];
    for (const { operation } of this.#requests) this.#names.set(operation, [...namesIn(operation.requestBody ?? {}), ...all]);
  }

  /** Returns the nth input. It is the same for every run with the same seed. */
  at(index: number): RouteInput {
    const random = new Random(this.#seed * 1_000_003 + index);
    const base = random.pick(this.#requests);
    const kind = random.below(10);
    const method = kind === 0 ? random.pick(methods) : base.operation.method.toUpperCase();
    const path = kind <= 2 ? changePath(base.url, random) : base.url;
    const type = kind === 3 ? random.pick(types) : base.body?.type.replace('*/*', 'application/json');
    const fields = [...Object.entries(base.headers), ...(kind === 4 ? [oddField(random), oddField(random)] : [])];
    const body = this.#body(base, random);
    const ownFields = [
      'host: x',
      ...credentials(random, this.#key),
      ...(type === undefined || body.length === 0 ? [] : [`content-type: ${type}`]),
      ...(method === 'GET' && body.length === 0 ? [] : [`content-length: ${body.length}`]),
      ...fields.map(([name, value]) => `${name}: ${value}`),
    ];
    const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${ownFields.join('\r\n')}\r\n\r\n`, 'latin1');
    return { title: `${method} ${path.slice(0, 200)}`, isHead: method === 'HEAD', bytes: Buffer.concat([head, body]) };
  }

  #body({ operation, body }: ExampleRequest, random: Random): Buffer {
    if (body === undefined) return Buffer.alloc(0);
    const names = this.#names.get(operation) ?? [];
    if (!/json/.test(body.type)) return Buffer.from(random.chance(0.5) ? String(body.value) : oddWord(random));
    const schema = operation.requestBody?.content[body.type]?.schema as Schema | undefined;
    if (schema !== undefined && random.chance(0.4))
      return toText(new SchemaValues(random, this.#resolve, random.pick([0.01, 0.05, 0.2])).make(schema), random);
    return toText(mutateJson(body.value, random, names), random);
  }
}

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'PROPFIND', 'TRACE'];
const types = [
  'text/plain',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=x',
  'application/json;',
  'x',
  '*/*',
  'text/event-stream',
];
const segments = [
  ...[
    '.',
    '..',
    '',
    '%2F',
    '%2f..%2f',
    '%252F',
    '%00',
    '%',
    '%zz',
    '%ff',
    '%ED%A0%80',
    '__proto__',
    'constructor',
    '*',
    ':id',
    '{id}',
  ],
  ...[
    ';',
    '\\',
    'chat',
    'completions',
    'embeddings',
    'limits',
    'demo',
    'sample',
    'app',
    'public',
    'applications',
    '~',
    'x'.repeat(3_000),
  ],
];
const queries = [
  'limit=-1',
  'limit=1e9',
  'limit=',
  'token=%00',
  'recursive=maybe',
  'api-version=../x',
  'a=1&a=2',
  '=',
  '%',
  '__proto__=1',
  'kind=x',
  'from=2024-02-30',
  'type=',
  `q=${'x'.repeat(5_000)}`,
];

function changePath(url: string, random: Random): string {
  const [path = '', query] = url.split('?', 2);
  const parts = path.split('/');
  const at = random.below(parts.length + 1);
  switch (random.below(4)) {
    case 0:
      parts.splice(at, 1, random.pick(segments));
      break;
    case 1:
      parts.splice(at, 0, random.pick(segments));
      break;
    case 2:
      parts.splice(at, 1);
      break;
    default:
      return `${path}?${[query, random.pick(queries)].filter(Boolean).join('&')}`.replaceAll(' ', '%20');
  }
  const changed = parts.join('/').replaceAll(' ', '%20');
  const absolutePath = changed.startsWith('/') ? changed : `/${changed}`;
  return query === undefined ? absolutePath : `${absolutePath}?${query}`;
}

const fieldNames = [
  ...[
    'authorization',
    'x-request-id',
    'traceparent',
    'tracestate',
    'content-encoding',
    'if-match',
    'if-none-match',
    'if-range',
    'range',
  ],
  ...['accept', 'accept-encoding', 'origin', 'cookie', 'x-api-key', 'anthropic-version', 'anthropic-beta', 'x-core-cache-policy'],
  ...[
    'x-forwarded-for',
    'x-forwarded-proto',
    'forwarded',
    '__proto__',
    'constructor',
    'x-parley-trace',
    'x-conversation-id',
    'mcp-session-id',
  ],
  ...[
    'mcp-protocol-version',
    'mcp-method',
    'last-event-id',
    'x-dial-application-id',
    'x-upstream-endpoint',
    'access-control-request-method',
  ],
];

/** Draws a field whose value can be sent unchanged. The scenario `clients` tests values that break the header section. */
function oddField(random: Random): [string, string] {
  const value = oddWord(random).replace(/[^\x20-\x7e\x80-\xff]/g, '');
  return [random.pick(fieldNames), random.chance(0.1) ? value.repeat(50) : value];
}

function credentials(random: Random, key: string): readonly string[] {
  switch (random.below(30)) {
    case 0:
      return [];
    case 1:
      return [`api-key: ${oddWord(random).replace(/[^\x20-\x7e]/g, '')}`];
    case 2:
      return [`authorization: Bearer ${key}`, `api-key: ${key}`];
    case 3:
      return [`x-api-key: ${key}`];
    default:
      return [`api-key: ${key}`];
  }
}
