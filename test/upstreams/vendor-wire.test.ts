import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { HttpClient } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { hello } from '#test/chunks.ts';
import {
  jsonReply,
  type Reply,
  type ScriptedUpstream,
  silence,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { createRecordedReply, createUpstream, type Vendor, vendorNames } from '#test/vendor-replies.ts';
import { account } from './service-account.ts';

const plain = new LeanClient();
let upstream: ScriptedUpstream;
let second: ScriptedUpstream;
let tokens: ScriptedUpstream;
let service: TestService;

/** Redirects requests for Google and AWS to the servers of this test. */
const http: HttpClient = {
  send(request, listener) {
    const servers: Readonly<Record<string, ScriptedUpstream>> = {
      'oauth2.googleapis.com': tokens,
      'europe-west1-aiplatform.googleapis.com': upstream,
      'bedrock-runtime.eu-central-1.amazonaws.com': upstream,
    };
    const { url } = servers[request.url.hostname] ?? {};
    const target = url === undefined ? request.url : new URL(`${request.url.pathname}${request.url.search}`, url);
    return plain.send({ ...request, url: target }, listener);
  },
  close: () => plain.close(),
};

beforeAll(async () => {
  [upstream, second, tokens] = [await startScriptedUpstream(), await startScriptedUpstream(), await startScriptedUpstream()];
  const once = { maxRetryAttempts: 1 };
  const inTurn = (vendor: Vendor) => [
    `${vendor}-two`,
    { upstreams: [createUpstream(vendor, upstream.url), { ...createUpstream(vendor, second.url), tier: 1 }] },
  ];
  const named = (vendor: Vendor) => [
    vendor,
    { upstreams: [{ ...createUpstream(vendor, upstream.url), headers: { 'X-Team': 'blue' } }], ...once },
  ];
  const unreachable = (vendor: Vendor) => [
    `${vendor}-gone`,
    { upstreams: [createUpstream(vendor, 'http://127.0.0.1:1')], ...once },
  ];
  const slow = (vendor: Vendor) => [
    `${vendor}-slow`,
    { upstreams: [{ ...createUpstream(vendor, upstream.url), timeouts: { firstByteMs: 50 } }], ...once },
  ];
  const vertexAccount = { protocol: 'vertex', region: 'europe-west1', key: JSON.stringify(account), model: 'gemini-2.5-pro' };
  const bedrockKey = { protocol: 'bedrock', region: 'eu-central-1', key: 'ABSKQmVkcm9jaw==', model: 'amazon.nova-pro-v1:0' };
  const models = Object.fromEntries([inTurn, named, unreachable, slow].flatMap((toModel) => vendorNames.map(toModel)));
  service = await startService(
    {
      models: {
        ...models,
        'vertex-account': { upstreams: [vertexAccount], ...once },
        'vertex-account-anew': { upstreams: [{ ...vertexAccount, model: 'gemini-2.5-flash' }], ...once },
        'bedrock-vectors': {
          type: 'embedding',
          upstreams: [{ ...createUpstream('bedrock', upstream.url), model: 'amazon.titan-embed-text-v2:0' }],
        },
        'mistral-vectors': { type: 'embedding', upstreams: [createUpstream('mistral', upstream.url)] },
        'bedrock-key': { upstreams: [bedrockKey], ...once },
        'bedrock-nowhere': { upstreams: [{ protocol: 'bedrock', key: 'AKIA:secret' }], ...once },
        'bedrock-keyless': { upstreams: [{ protocol: 'bedrock', region: 'eu-central-1' }], ...once },
      },
    },
    { http },
  );
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  plain.close();
  for (const server of [upstream, second, tokens]) await server.close();
});

const fine = (vendor: Vendor): Reply => createRecordedReply(vendor, vendor === 'vertex' ? 'streamed-arguments' : 'text');

async function captureRequest(deployment: string, vendor: Vendor, body: object = {}) {
  const index = upstream.requests.length;
  upstream.script(fine(vendor));
  const { status, text } = await service.chat(deployment, { messages: hello, ...body });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return upstream.request(index);
}

describe('request', () => {
  it('to Gemini has its path and key', async () => {
    const { method, path, headers, body } = await captureRequest('gemini', 'gemini');
    expect([method, path]).toEqual(['POST', '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse']);
    expect(headers).toMatchObject({ 'x-goog-api-key': 'gemini-secret', 'content-type': 'application/json' });
    expect(body).toEqual({ generationConfig: {}, contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
  });

  it('to Vertex in express mode has its path and key', async () => {
    const { path, headers } = await captureRequest('vertex', 'vertex');
    expect(path).toBe('/v1/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse');
    expect(headers).toMatchObject({ 'x-goog-api-key': 'vertex-secret' });
    expect(headers).not.toHaveProperty('authorization');
  });

  it('to Bedrock is signed', async () => {
    const { path, headers, body } = await captureRequest('bedrock', 'bedrock');
    expect(path).toBe('/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream');
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=.*host.*, Signature=[0-9a-f]{64}$/,
    );
    expect(headers['x-amz-security-token']).toBe('session-secret');
    expect(body).toMatchObject({ messages: [{ role: 'user', content: [{ text: 'Hello' }] }] });
  });

  it('to Bedrock has the API key, if configured, and the model path', async () => {
    const { path, headers } = await captureRequest('bedrock-key', 'bedrock');
    expect(path).toBe('/model/amazon.nova-pro-v1%3A0/converse-stream');
    expect(headers.authorization).toBe('Bearer ABSKQmVkcm9jaw==');
  });

  it('to Mistral has its path and key', async () => {
    const { path, headers, body } = await captureRequest('mistral', 'mistral', { seed: 7, tools: [], tool_choice: 'required' });
    expect(path).toBe('/v1/chat/completions');
    expect(headers.authorization).toBe('Bearer mistral-secret');
    expect(body).toEqual({
      model: 'magistral-small',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      random_seed: 7,
      stream: true,
    });
  });

  it.each(vendorNames)('to %s has the configured headers and the request id, and no client header', async (vendor) => {
    const { headers } = await captureRequest(vendor, vendor);
    expect(headers).toMatchObject({ 'x-team': 'blue', 'x-request-id': expect.any(String), traceparent: expect.any(String) });
    expect(headers).not.toHaveProperty('api-key');
    expect(JSON.stringify(headers)).not.toContain('caller-key');
  });
});

describe('Google Cloud service account', () => {
  it('gets one token over the HTTP client of the service for concurrent calls', async () => {
    tokens.script(jsonReply({ access_token: 'ya29.the-token', expires_in: 3600, token_type: 'Bearer' }));
    upstream.script(fine('vertex'));
    const index = upstream.requests.length;
    await Promise.all([1, 2, 3].map(() => service.chat('vertex-account', { messages: hello })));
    await service.chat('vertex-account', { messages: hello });
    expect(tokens.requests.map(({ path, text }) => [path, new URLSearchParams(text).get('grant_type')])).toEqual([
      ['/token', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
    ]);
    const { path, headers } = await upstream.request(index);
    expect(headers.authorization).toBe('Bearer ya29.the-token');
    expect(path).toBe(
      '/v1beta1/projects/the-project/locations/europe-west1/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    );
  });

  it('fails calls with 500, without details, if Google rejects the token request', async () => {
    tokens.script(jsonReply({ error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 400));
    const { status, error } = await service.chat('vertex-account-anew', { messages: hello });
    expect([status, error.code]).toEqual([500, 'upstream_failed']);
    expect(error.message).toMatch(/rejected the credentials/);
  });

  it('stops waiting for the token when the client disconnects', async () => {
    const index = tokens.requests.length;
    tokens.script(silence);
    const caller = service.chatAndDisconnect('vertex-account-anew', { messages: hello });
    await tokens.request(index);
    caller.disconnect();
    await expect.poll(() => service.inFlightCalls.size, { interval: 5 }).toBe(0);
  });
});

const google = (status: number, fields: object = {}): Reply =>
  jsonReply({ error: { code: status, message: `google says ${status}`, status: 'SOME_STATUS', ...fields } }, status);

describe('upstream rejection', () => {
  it.each([
    ['gemini', google(400), 400, 'SOME_STATUS', /^google says 400$/],
    [
      'gemini',
      jsonReply([{ error: { code: 400, message: 'in a list', status: 'INVALID_ARGUMENT' } }], 400),
      400,
      'INVALID_ARGUMENT',
      /^in a list$/,
    ],
    ['gemini', google(403), 500, 'upstream_failed', /rejected the credentials/],
    ['gemini', google(400, { details: [{ reason: 'API_KEY_INVALID' }] }), 500, 'upstream_failed', /rejected the credentials/],
    ['vertex', google(413), 413, 'SOME_STATUS', /^google says 413$/],
    [
      'bedrock',
      jsonReply({ message: 'Malformed input.' }, 400, { 'x-amzn-errortype': 'ValidationException:http://x/' }),
      400,
      'ValidationException',
      /^Malformed input\.$/,
    ],
    ['bedrock', jsonReply({ Message: 'Denied.' }, 403), 500, 'upstream_failed', /rejected the credentials/],
    ['bedrock', jsonReply({}, 424), 500, 'upstream_failed', /answered 424/],
    [
      'mistral',
      jsonReply({ object: 'error', message: 'Bad.', type: 'invalid_request_error', param: null, code: '1510' }, 400),
      400,
      '1510',
      /^Bad\.$/,
    ],
    [
      'mistral',
      jsonReply({ detail: [{ type: 'extra_forbidden', loc: ['body', 'x'], msg: 'Extra inputs are not permitted' }] }, 422),
      400,
      'invalid_request',
      /^body\.x: Extra inputs/,
    ],
    ['mistral', jsonReply({ message: 'Unauthorized', request_id: 'x' }, 401), 500, 'upstream_failed', /rejected the credentials/],
    ['mistral', ({ response }) => void response.writeHead(502).end('<html>'), 503, 'upstream_unavailable', /answered 502/],
  ] as [Vendor, Reply, number, string, RegExp][])(
    'by %s is mapped as described in docs/wire.md (%#)',
    async (vendor, reply, status, code, message) => {
      upstream.script(reply);
      const answered = await service.chat(vendor, { messages: hello, stream: true });
      expect([answered.status, answered.error.code]).toEqual([status, code]);
      expect(answered.error.message).toMatch(message);
    },
  );

  it('with 429 passes on the retry delay from the header or the error details', async () => {
    upstream.script(jsonReply({ message: 'Slow down.' }, 429, { 'retry-after': '7' }));
    expect((await service.chat('bedrock', { messages: hello })).headers['retry-after']).toBe('7');
    upstream.script(google(429, { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' }] }));
    expect((await service.chat('gemini', { messages: hello })).headers['retry-after']).toBe('35');
  });

  it.each(vendorNames)('by %s never shows a secret that the upstream repeats', async (vendor) => {
    const secrets = `${createUpstream(vendor, '').key} ${createUpstream(vendor, '').key.split(':').slice(1).join(' ')}`;
    upstream.script(
      jsonReply(
        {
          error: { code: 400, message: `you sent ${secrets}`, status: 'X' },
          message: `you sent ${secrets}`,
          object: 'error',
          type: 'x',
          param: null,
          code: 'x',
        },
        400,
      ),
    );
    const { status, text } = await service.chat(vendor, { messages: hello });
    expect(status).toBe(400);
    expect(text).toContain('you sent');
    expect(text).not.toMatch(/secret/);
  });
});

describe.each(vendorNames)('upstream with the protocol %s', (vendor) => {
  it('is followed by the next upstream if it fails before the first event', async () => {
    for (const reply of [
      jsonReply({ message: 'Busy.' }, 503),
      jsonReply({ message: 'Slow.' }, 429),
      (exchange: UpstreamExchange) => exchange.destroyConnection(),
    ]) {
      service.forgetFailures();
      upstream.script(reply as Reply);
      second.script(fine(vendor));
      const index = second.requests.length;
      expect(await service.chat(`${vendor}-two`, { messages: hello })).toMatchObject({ status: 200 });
      expect(second.requests.length).toBe(index + 1);
    }
  });

  it('receives one request per attempt', async () => {
    const index = upstream.requests.length;
    upstream.script(jsonReply({ message: 'Busy.' }, 503));
    await service.chat(vendor, { messages: hello });
    expect(upstream.requests.length).toBe(index + 1);
  });

  it('is reported as unavailable if it refuses connections or does not answer', async () => {
    upstream.script(silence);
    for (const deployment of [`${vendor}-gone`, `${vendor}-slow`])
      expect(await service.chat(deployment, { messages: hello })).toMatchObject({
        status: 503,
        error: { code: 'upstream_unavailable' },
      });
  });
});

describe('embeddings', () => {
  const embed = (model: string, input: unknown, fields: object = {}) =>
    service.sendRequest({ path: '/v1/embeddings', headers: withKey(), body: { model, input, ...fields } });

  it('of many texts use one call per text for Titan and keep the order of the texts', async () => {
    const texts = Array.from({ length: 20 }, (_, nth) => `${nth}`);
    const titan: Reply = (exchange) =>
      jsonReply({ embedding: [Number(exchange.received.body.inputText), 1], inputTextTokenCount: 3 })(exchange);
    upstream.script(titan);
    const index = upstream.requests.length;
    const { json } = await embed('bedrock-vectors', texts, { dimensions: 256 });
    const { data, usage } = json as { data: { index: number; embedding: number[] }[]; usage: object };
    expect(data.map(({ index: position, embedding }) => [position, embedding[0]])).toEqual(texts.map((_, nth) => [nth, nth]));
    expect(usage).toEqual({ prompt_tokens: 60, total_tokens: 60 });
    expect(upstream.requests.length - index).toBe(20);
    const { path, headers, body } = await upstream.request(index);
    expect([path, body.dimensions]).toEqual(['/model/amazon.titan-embed-text-v2%3A0/invoke', 256]);
    expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256/);
  });

  it('are base64-encoded on request', async () => {
    upstream.script(jsonReply({ data: [{ embedding: [0.5, -1] }], usage: { prompt_tokens: 2 } }));
    const { json } = await embed('mistral-vectors', 'a', { encoding_format: 'base64' });
    const [{ embedding } = { embedding: '' }] = (json as { data: { embedding: string }[] }).data;
    expect(embedding).toBe(Buffer.from(new Float32Array([0.5, -1]).buffer).toString('base64'));
  });

  it('accept only text and pass on upstream errors', async () => {
    expect(await embed('mistral-vectors', [1, 2])).toMatchObject({ status: 400, error: { param: 'input' } });
    upstream.script(
      jsonReply({ object: 'error', message: 'Slow.', type: 'x', param: null, code: null }, 429, { 'retry-after': '3' }),
    );
    expect(await embed('mistral-vectors', 'a')).toMatchObject({ status: 429, headers: { 'retry-after': '3' } });
  });
});

describe('Bedrock settings', () => {
  const settings = ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_BEARER_TOKEN_BEDROCK', 'AWS_ENDPOINT_URL'];

  it.each(['bedrock-nowhere', 'bedrock-keyless'])(
    'are reported as not configured if the configuration and the environment lack them: %s',
    async (deployment) => {
      for (const name of settings) vi.stubEnv(name, undefined);
      const { status, error } = await service.chat(deployment, { messages: hello });
      vi.unstubAllEnvs();
      expect([status, error.message]).toEqual([500, expect.stringMatching(/Its key, region, or project is not configured/)]);
    },
  );

  it('of the configuration take precedence over the environment', async () => {
    vi.stubEnv('AWS_BEARER_TOKEN_BEDROCK', 'of-the-environment');
    const { headers } = await captureRequest('bedrock', 'bedrock');
    vi.unstubAllEnvs();
    expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256/);
  });
});
