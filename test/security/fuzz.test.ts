import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply } from '#test/scripted-upstream.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { pathOf, quickApp } from '../applications/support.ts';
import { bounds, exchangeBytes, failUnheard, inTime, nearMiss, oddValues, requireSane } from './fuzz-support.ts';
import { startWhole, type WholeService } from './support.ts';
import { application, bucket, chat, document, message, toolChat } from './valid-requests.ts';

interface Target {
  readonly method?: 'PUT';
  readonly path: string;
  readonly valid: unknown;
}

const chatOf = (id: string): string => `/openai/deployments/${id}/chat/completions`;

/** Every route that takes JSON, with what it takes. */
const targets: Readonly<Record<string, Target>> = {
  'a chat': { path: chatOf('gpt'), valid: chat },
  'a chat with tools': { path: chatOf('gpt'), valid: toolChat },
  'a chat by the model of its body': { path: '/v1/chat/completions', valid: { model: 'gpt', ...toolChat } },
  'a chat in another dialect upstream': { path: chatOf('claude'), valid: chat },
  'a chat with tools in another dialect upstream': { path: chatOf('claude'), valid: toolChat },
  'a chat with an application': { path: chatOf('app'), valid: chat },
  'a chat with a quick app': { path: chatOf('quick'), valid: toolChat },
  'a chat with the demo': { path: chatOf('demo'), valid: { ...toolChat, max_tokens: 1 } },
  embeddings: {
    path: '/v1/embeddings',
    valid: { model: 'vectors', input: ['a', 'b'], dimensions: 3, encoding_format: 'base64' },
  },
  'embeddings of an upstream': { path: '/openai/deployments/gpt-vectors/embeddings', valid: { input: [[1, 2]], user: 'u' } },
  'a message': { path: '/msgapi/v1/messages', valid: message },
  'a message to be translated': { path: '/msgapi/v1/messages', valid: { ...message, model: 'gpt' } },
  'a count of tokens': { path: '/msgapi/v1/messages/count_tokens', valid: { ...message, model: 'demo' } },
  'a consent': {
    path: '/v1/consent/app',
    valid: { consent: { app: { consentRequired: true }, gpt: { consentRequired: false } } },
  },
  'an application': { method: 'PUT', path: pathOf('mine', bucket), valid: application },
  'tools to list': {
    path: '/v1/tools/list',
    valid: {
      toolset: { type: 'mcp', name: 'x', mcp_server_info: { url: 'http://127.0.0.1:1/mcp', protocol: 'streamable_http' } },
    },
  },
  'a tool to run': {
    path: '/v1/tools/run',
    valid: {
      toolset: { type: 'mcp', name: 'x', mcp_server_info: { url: 'http://127.0.0.1:1/mcp', protocol: 'streamable_http' } },
      tool: 'find',
      arguments: { text: 'lamp' },
    },
  },
  'a document to import': { path: '/v1/import-openapi', valid: { document, include: ['find'], exclude: ['none'] } },
};

let whole: WholeService;

failUnheard();

beforeAll(async () => {
  whole = await startWhole((url) => {
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
  whole.host.script(answerWell);
  const document = { method: 'PUT', headers: { ...withKey(), 'content-type': 'text/plain' }, body: 'a' };
  expect((await fetch(`${whole.service.url}/v1/files/${bucket}/a`, document)).status).toBe(200);
});

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
});

afterAll(async () => {
  await whole[Symbol.asyncDispose]();
});

const claudeReply = {
  ...{ id: 'msg', type: 'message', role: 'assistant', model: 'c', content: [{ type: 'text', text: 'Hi' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
};

function answerWell(answering: Parameters<ReturnType<typeof jsonReply>>[0]): void | Promise<void> {
  const { path } = answering.received;
  const vectors = {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [1] }],
    model: 'm',
    usage: { prompt_tokens: 1, total_tokens: 1 },
  };
  const value = path.startsWith('/anthropic') ? claudeReply : path.endsWith('/embeddings') ? vectors : plainCompletion('hi');
  return jsonReply(value)(answering);
}

/** Sends a body to a route, and requires a sane answer. */
async function send(
  { method = 'PUT', path }: { method?: string; path: string },
  body: unknown,
  type = 'application/json',
): Promise<number> {
  const headers = { ...withKey(), 'content-type': type };
  const answer = await inTime(whole.service.sendRequest({ method, path, headers, body }), `${method} ${path}`);
  requireSane(answer);
  return answer.status;
}

const text = (value: unknown): string => JSON.stringify(value) ?? '';

describe.each(Object.entries(targets))('a request for %s', (_what, { method = 'POST', path, valid }) => {
  const place = { method, path };

  it('is answered as it stands', async () => {
    expect([200, 201]).toContain(await send(place, text(valid)));
  });

  it('that is nearly right is answered or refused', async () => {
    await fc.assert(
      fc.asyncProperty(nearMiss(valid), async (value) => void (await send(place, text(value)))),
      bounds(60),
    );
  });

  it('that is any JSON, or any bytes, is refused', async () => {
    const body = fc.oneof(
      oddValues.map(text),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.json(),
    );
    await fc.assert(
      fc.asyncProperty(body, async (sent) => void (await send(place, sent))),
      bounds(30),
    );
  });

  it('that is cut off, or has a byte changed, is answered or refused', async () => {
    const whole = Buffer.from(text(valid));
    const damage = fc.record({ at: fc.nat(whole.length - 1), byte: fc.integer({ min: 0, max: 255 }), cut: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(damage, async ({ at, byte, cut }) => {
        const sent = Buffer.from(cut ? whole.subarray(0, at) : whole);
        if (!cut) sent[at] = byte;
        await send(place, sent);
      }),
      bounds(30),
    );
  });
});

describe('an application that is saved, odd as it may be', () => {
  it('hurts neither those who list it nor those who use it', async () => {
    const place = { method: 'PUT', path: pathOf('odd', bucket) };
    let saved = 0;
    await fc.assert(
      fc.asyncProperty(nearMiss(application), async (value) => {
        if ((await send(place, text(value))) >= 400) return;
        saved += 1;
        const get = { 'api-key': callerKey };
        for (const listed of ['/openai/deployments', '/anthropic/v1/models', `/v1/applications/${bucket}/`]) {
          const { status } = await whole.service.sendRequest({ method: 'GET', path: listed, headers: get });
          expect([listed, status]).toEqual([listed, 200]);
        }
        for (const part of ['configuration', 'limits'])
          requireSane(
            await whole.service.sendRequest({
              method: 'GET',
              path: `/v1/deployments/applications/${bucket}/odd/${part}`,
              headers: get,
            }),
          );
        requireSane(
          await whole.service.sendRequest({ method: 'GET', path: `/v1/consent/applications/${bucket}/odd`, headers: get }),
        );
        const used = whole.service.chat(`applications/${bucket}/odd`, {
          messages: [{ role: 'user', content: 'Hi' }],
          max_tokens: 2,
        });
        const { text: said } = await inTime(used, 'an odd application');
        expect(said).not.toContain('internal_error');
      }),
      bounds(150),
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

/** The first answer to raw bytes, where there is one: its status, and its body where that is of an announced length. */
async function answerTo(bytes: Buffer, ends: boolean): Promise<{ status: number; text: string } | undefined> {
  const said = await inTime(exchangeBytes(whole.service.url, bytes, { ends }), JSON.stringify(String(bytes).slice(0, 300)));
  const [head = '', ...bodies] = said.replace(/^HTTP\/1\.1 100 .*?\r\n\r\n/s, '').split('\r\n\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  const hasBody = /^content-length: [1-9]/im.test(head);
  return status === undefined ? undefined : { status: Number(status), text: hasBody ? bodies.join('\r\n\r\n') : '' };
}

describe('any request', () => {
  it('of any method, path, query and header is answered or refused', async () => {
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND');
    const asked = fc.record({ method, path, headers: fc.array(header, { maxLength: 3 }), hasKey: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(asked, async ({ method, path, headers, hasKey }) => {
        const fields = [
          'host: x',
          'connection: close',
          'content-length: 2',
          ...(hasKey ? [`api-key: ${callerKey}`] : []),
          ...headers,
        ];
        const sent = `${method} ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n{}`;
        const answer = await answerTo(Buffer.from(sent, 'latin1'), false);
        if (answer === undefined) throw new Error(`no answer to ${sent}`);
        requireSane(answer.status < 400 ? { ...answer, text: '' } : answer);
      }),
      bounds(400),
    );
  });

  it('that is no HTTP is refused, and the next one is served', async () => {
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
      fc.asyncProperty(bytes, async (sent) => {
        const answer = await answerTo(sent, true);
        if (answer !== undefined && answer.status >= 400) requireSane(answer);
      }),
      bounds(200),
    );
    expect((await whole.service.sendRequest({ method: 'GET', path: '/health' })).status).toBe(200);
  });
});

describe('a form', () => {
  it('of any bytes is stored or refused', async () => {
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
      fc.asyncProperty(body, type, async (sent, contentType) => {
        await send({ path: `/v1/files/${bucket}/a` }, sent, contentType);
      }),
      bounds(100),
    );
  });
});
