import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply } from '#test/scripted-upstream.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { getApplicationPath, quickApp } from '../applications/support.ts';
import {
  createBounds,
  createNearMiss,
  exchangeBytes,
  failOnUnhandledRejection,
  oddValues,
  requireInTime,
  requireSane,
} from './fuzz-support.ts';
import { type FullService, startFullService } from './support.ts';
import { application, bucket, chat, document, message, toolChat } from './valid-requests.ts';

interface Target {
  readonly method?: 'PUT';
  readonly path: string;
  readonly valid: unknown;
}

const toChatPath = (id: string): string => `/openai/deployments/${id}/chat/completions`;

/** Routes that accept JSON, each with a valid body. */
const targets: Readonly<Record<string, Target>> = {
  chat: { path: toChatPath('gpt'), valid: chat },
  'chat with tools': { path: toChatPath('gpt'), valid: toolChat },
  'chat with the model in the body': { path: '/v1/chat/completions', valid: { model: 'gpt', ...toolChat } },
  'chat with an anthropic upstream': { path: toChatPath('claude'), valid: chat },
  'chat with tools and an anthropic upstream': { path: toChatPath('claude'), valid: toolChat },
  'chat with an application': { path: toChatPath('app'), valid: chat },
  'chat with a quick app': { path: toChatPath('quick'), valid: toolChat },
  'chat with the demo': { path: toChatPath('demo'), valid: { ...toolChat, max_tokens: 1 } },
  embeddings: {
    path: '/v1/embeddings',
    valid: { model: 'vectors', input: ['a', 'b'], dimensions: 3, encoding_format: 'base64' },
  },
  'embeddings of an upstream': { path: '/openai/deployments/gpt-vectors/embeddings', valid: { input: [[1, 2]], user: 'u' } },
  message: { path: '/msgapi/v1/messages', valid: message },
  'message with an openai upstream': { path: '/msgapi/v1/messages', valid: { ...message, model: 'gpt' } },
  'token count': { path: '/msgapi/v1/messages/count_tokens', valid: { ...message, model: 'demo' } },
  consent: {
    path: '/v1/consent/app',
    valid: { consent: { app: { consentRequired: true }, gpt: { consentRequired: false } } },
  },
  'saved application': { method: 'PUT', path: getApplicationPath('mine', bucket), valid: application },
  'tool list': {
    path: '/v1/tools/list',
    valid: {
      toolset: { type: 'mcp', name: 'x', mcp_server_info: { url: 'http://127.0.0.1:1/mcp', protocol: 'streamable_http' } },
    },
  },
  'tool run': {
    path: '/v1/tools/run',
    valid: {
      toolset: { type: 'mcp', name: 'x', mcp_server_info: { url: 'http://127.0.0.1:1/mcp', protocol: 'streamable_http' } },
      tool: 'find',
      arguments: { text: 'lamp' },
    },
  },
  'OpenAPI import': { path: '/v1/import-openapi', valid: { document, include: ['find'], exclude: ['none'] } },
};

let fullService: FullService;

failOnUnhandledRejection();

beforeAll(async () => {
  fullService = await startFullService((url) => {
    const upstreams = [{ endpoint: `${url}/v1` }];
    const once = { maxRetryAttempts: 1 };
    return {
      models: {
        gpt: { upstreams, ...once },
        claude: { upstreams: [{ protocol: 'anthropic', endpoint: `${url}/anthropic/v1` }], ...once },
        demo: { upstreams: [{ protocol: 'demo' }] },
        vectors: { type: 'embedding', upstreams: [{ protocol: 'demo' }] },
        'gpt-vectors': { type: 'embedding', upstreams, ...once },
      },
      applications: {
        app: { endpoint: `${url}/app`, features: { consentRequired: true }, dependencies: ['gpt'] },
        quick: quickApp({ model: 'gpt' }),
      },
      tools: { connectMs: 300, timeoutMs: 500 },
    };
  });
  fullService.host.script(answerValid);
  const document = { method: 'PUT', headers: { ...withKey(), 'content-type': 'text/plain' }, body: 'a' };
  expect((await fetch(`${fullService.service.url}/v1/files/${bucket}/a`, document)).status).toBe(200);
});

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
});

afterAll(async () => {
  await fullService[Symbol.asyncDispose]();
});

const claudeReply = {
  ...{ id: 'msg', type: 'message', role: 'assistant', model: 'c', content: [{ type: 'text', text: 'Hi' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
};

function answerValid(exchange: Parameters<ReturnType<typeof jsonReply>>[0]): void | Promise<void> {
  const { path } = exchange.received;
  const vectors = {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [1] }],
    model: 'm',
    usage: { prompt_tokens: 1, total_tokens: 1 },
  };
  const value = path.startsWith('/anthropic') ? claudeReply : path.endsWith('/embeddings') ? vectors : plainCompletion('hi');
  return jsonReply(value)(exchange);
}

/** Sends a body to a route and requires an answer without an internal error. */
async function send(
  { method = 'PUT', path }: { method?: string; path: string },
  body: unknown,
  type = 'application/json',
): Promise<number> {
  const headers = { ...withKey(), 'content-type': type };
  const answer = await requireInTime(fullService.service.sendRequest({ method, path, headers, body }), `${method} ${path}`);
  requireSane(answer);
  return answer.status;
}

const text = (value: unknown): string => JSON.stringify(value) ?? '';

describe.each(Object.entries(targets))('request for %s', (_what, { method = 'POST', path, valid }) => {
  const target = { method, path };

  it('succeeds with a valid body', async () => {
    expect([200, 201]).toContain(await send(target, text(valid)));
  });

  it('is answered or rejected with an almost valid body', async () => {
    await fc.assert(
      fc.asyncProperty(createNearMiss(valid), async (value) => void (await send(target, text(value)))),
      createBounds(60),
    );
  });

  it('is answered or rejected with arbitrary JSON or bytes', async () => {
    const body = fc.oneof(
      oddValues.map(text),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.json(),
    );
    await fc.assert(
      fc.asyncProperty(body, async (requestBody) => void (await send(target, requestBody))),
      createBounds(30),
    );
  });

  it('is answered or rejected with a truncated or damaged body', async () => {
    const validBytes = Buffer.from(text(valid));
    const damage = fc.record({
      at: fc.nat(validBytes.length - 1),
      byte: fc.integer({ min: 0, max: 255 }),
      isTruncated: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(damage, async ({ at, byte, isTruncated }) => {
        const requestBody = Buffer.from(isTruncated ? validBytes.subarray(0, at) : validBytes);
        if (!isTruncated) requestBody[at] = byte;
        await send(target, requestBody);
      }),
      createBounds(30),
    );
  });
});

describe('saved application with unusual values', () => {
  it('does not break listings and calls', async () => {
    const target = { method: 'PUT', path: getApplicationPath('odd', bucket) };
    let saved = 0;
    await fc.assert(
      fc.asyncProperty(createNearMiss(application), async (value) => {
        if ((await send(target, text(value))) >= 400) return;
        saved += 1;
        const get = { 'api-key': callerKey };
        for (const listed of ['/openai/deployments', '/anthropic/v1/models', `/v1/applications/${bucket}/`]) {
          const { status } = await fullService.service.sendRequest({ method: 'GET', path: listed, headers: get });
          expect([listed, status]).toEqual([listed, 200]);
        }
        for (const part of ['configuration', 'limits'])
          requireSane(
            await fullService.service.sendRequest({
              method: 'GET',
              path: `/v1/deployments/applications/${bucket}/odd/${part}`,
              headers: get,
            }),
          );
        requireSane(
          await fullService.service.sendRequest({ method: 'GET', path: `/v1/consent/applications/${bucket}/odd`, headers: get }),
        );
        const used = fullService.service.chat(`applications/${bucket}/odd`, {
          messages: [{ role: 'user', content: 'Hi' }],
          max_tokens: 2,
        });
        const { text: output } = await requireInTime(used, 'an odd application');
        expect(output).not.toContain('internal_error');
      }),
      createBounds(150),
    );
    expect(saved).toBeGreaterThan(0);
  });
});

const bases = [
  ...[
    '/compat/deployments/',
    '/openai/deployments/',
    '/openai/models/',
    '/openai/applications/',
    '/v1/models/',
    '/v1/deployments/',
  ],
  ...['/v1/consent/', `/v1/files/${bucket}/`, '/v1/files/', `/v1/metadata/files/${bucket}/`, `/v1/applications/${bucket}/`],
  ...['/v1/applications/', '/msgapi/v1/', '/anthropic/v1/models/', '/assets/', '/docs/', '/addin/', '/', ''],
];
const segment = fc.oneof(
  fc.constantFrom(
    ...['.', '..', '', '%2F', '%2f..%2f', '%252F', '%00', '%', '%zz', '%ff', '%ED%A0%80', '__proto__', 'constructor'],
    ...[
      'chat',
      'completions',
      'embeddings',
      '2024-10-21',
      'limits',
      'app',
      'gpt',
      ';',
      '*',
      ':id',
      '{id}',
      '\\',
      'x'.repeat(3_000),
    ],
  ),
  fc.string({ unit: fc.constantFrom(...'ab/%.~!$&()*+,;=:@-_0'), maxLength: 20 }),
  fc.webSegment(),
);
const path = fc
  .tuple(fc.constantFrom(...bases), fc.array(segment, { maxLength: 4 }), fc.option(fc.oneof(fc.webQueryParameters(), segment)))
  .map(([base, segments, query]) => `${base}${segments.join('/')}${query === null ? '' : `?${query}`}`)
  .map((target) => target.replace(/[^!-~]/g, '') || '/');
const headerName = fc.constantFrom(
  ...[
    'authorization',
    'x-request-id',
    'traceparent',
    'tracestate',
    'content-type',
    'content-encoding',
    'if-match',
    'if-none-match',
  ],
  ...[
    'if-range',
    'range',
    'accept',
    'accept-encoding',
    'origin',
    'cookie',
    'x-api-key',
    'anthropic-version',
    'x-core-cache-policy',
  ],
  ...['x-forwarded-for', 'expect', '__proto__', 'constructor', 'upgrade'],
);
const headerValue = fc.oneof(
  fc.string({ unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 60 }),
  fc.constantFrom(
    'bytes=0-',
    'bytes=-1',
    'bytes=9-1',
    '*',
    '"a"',
    'W/"',
    'Bearer ',
    'gzip',
    'multipart/form-data; boundary=',
    '100-continue',
    '-1',
  ),
);
const header = fc.tuple(headerName, headerValue).map(([name, value]) => `${name}: ${value}`);

/** Returns the status of the first response to raw bytes, and its body if it has a length, or undefined if there is no response. */
async function sendBytes(bytes: Buffer, ends: boolean): Promise<{ status: number; text: string } | undefined> {
  const output = await requireInTime(
    exchangeBytes(fullService.service.url, bytes, { ends }),
    JSON.stringify(String(bytes).slice(0, 300)),
  );
  const [head = '', ...bodies] = output.replace(/^HTTP\/1\.1 100 .*?\r\n\r\n/s, '').split('\r\n\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  const hasBody = /^content-length: [1-9]/im.test(head);
  return status === undefined ? undefined : { status: Number(status), text: hasBody ? bodies.join('\r\n\r\n') : '' };
}

describe('arbitrary request', () => {
  it('is answered or rejected for any method, path, query, and header', async () => {
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND');
    const request = fc.record({ method, path, headers: fc.array(header, { maxLength: 3 }), hasKey: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, headers, hasKey }) => {
        const fields = [
          'host: x',
          'connection: close',
          'content-length: 2',
          ...(hasKey ? [`api-key: ${callerKey}`] : []),
          ...headers,
        ];
        const requestText = `${method} ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n{}`;
        const answer = await sendBytes(Buffer.from(requestText, 'latin1'), false);
        if (answer === undefined) throw new Error(`no answer to ${requestText}`);
        requireSane(answer.status < 400 ? { ...answer, text: '' } : answer);
      }),
      createBounds(400),
    );
  });

  it('is rejected or ignored if it is not HTTP, and the next request is answered', async () => {
    const line = fc.constantFrom(
      'GET / HTTP/1.1',
      'POST /v1/models HTTP/9.9',
      'host: x',
      'content-length: 5',
      'content-length: -1',
      'transfer-encoding: chunked',
      'a'.repeat(20_000),
      ': x',
      '\0',
      'PRI * HTTP/2.0',
      '\x16\x03\x01',
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)),
      fc
        .array(fc.oneof(line, fc.string({ maxLength: 30 })), { maxLength: 8 })
        .map((lines) => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (requestBytes) => {
        const answer = await sendBytes(requestBytes, true);
        if (answer !== undefined && answer.status >= 400) requireSane(answer);
      }),
      createBounds(200),
    );
    expect((await fullService.service.sendRequest({ method: 'GET', path: '/health' })).status).toBe(200);
  });
});

describe('multipart form', () => {
  it('with arbitrary bytes is stored or rejected', async () => {
    const head = 'Content-Disposition: form-data; name="f"\r\n';
    const piece = fc.oneof(
      fc.constantFrom('--B', '--B--', '\r\n', '\n', head, 'content-type: a/b\r\n', '\r\n\r\n', ': ', 'x'.repeat(9_000)),
      fc.string({ maxLength: 20 }),
    );
    const body = fc.array(piece, { maxLength: 8 }).map((pieces) => `--B\r\n${pieces.join('')}`);
    const type = fc.constantFrom(
      'multipart/form-data; boundary=B',
      'multipart/form-data',
      'multipart/form-data; boundary="',
      'multipart/mixed; boundary=B',
      '/',
      'a/b;',
    );
    await fc.assert(
      fc.asyncProperty(body, type, async (requestBody, contentType) => {
        await send({ path: `/v1/files/${bucket}/a` }, requestBody, contentType);
      }),
      createBounds(100),
    );
  });
});
