import { createServer } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { waitUntilListening } from '#test/listening.ts';
import { errorReply, type Reply, type ScriptedUpstream, startScriptedUpstream, toEvent } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';

allowNonconformingUpstreams();

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const { endpoint, url } = upstream;
  service = await startService({
    models: {
      chat: { upstreams: [{ endpoint }], maxRetryAttempts: 1 },
      answers: { upstreams: [{ endpoint, api: 'responses' }], maxRetryAttempts: 1 },
      claude: { upstreams: [{ protocol: 'anthropic', endpoint: url, key: 'upstream-key' }], maxRetryAttempts: 1 },
    },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const overflowMessage =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens. Please reduce the length of the messages.";
const overflow = errorReply(
  400,
  {},
  { message: overflowMessage, code: 'context_length_exceeded', type: 'invalid_request_error' },
);

function createFailedResponse(code: string, message = overflowMessage): Reply {
  return ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const startedResponse = { id: 'resp_1', object: 'response', created_at: 1, model: 'x', status: 'in_progress', output: [] };
    response.write(
      `event: response.created\n${toEvent({ type: 'response.created', response: startedResponse, sequence_number: 0 })}`,
    );
    const failedBody = { ...startedResponse, status: 'failed', error: { code, message } };
    response.end(`event: response.failed\n${toEvent({ type: 'response.failed', response: failedBody, sequence_number: 1 })}`);
  };
}

const messagesRequest = { max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hello' }] };
const anthropic = () => new Anthropic({ apiKey: callerKey, baseURL: `${service.url}/anthropic`, maxRetries: 0 });

describe('context overflow of an upstream', () => {
  it.each([
    ['token counts', overflow, 'prompt is too long: 10000 tokens > 8192 maximum'],
    [
      'no token counts',
      errorReply(400, {}, { message: 'Too much.', code: 'context_length_exceeded' }),
      'prompt is too long: Too much.',
    ],
    [
      'a Gemini message',
      errorReply(400, {}, { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' }),
      'prompt is too long: 1200000 tokens > 1048576 maximum',
    ],
    [
      'a llama.cpp message and 413',
      errorReply(413, {}, { message: 'the request exceeds the available context size (4096 tokens)' }),
      'prompt is too long: the request exceeds the available context size (4096 tokens)',
    ],
  ])('with %s is reported to Anthropic clients with the message text of Anthropic', async (_what, reply, message) => {
    upstream.script(reply);
    for (const stream of [false, true]) {
      const error = await anthropic()
        .messages.create({ model: 'chat', ...messagesRequest, stream })
        .then(undefined, (cause) => cause);
      expect([error.status, error.error.error]).toEqual([400, { type: 'invalid_request_error', message }]);
    }
  });

  it('is reported to OpenAI clients with its code if the upstream is Anthropic', async () => {
    const message = 'prompt is too long: 210000 tokens > 200000 maximum';
    upstream.script(errorReply(400, {}, { type: 'invalid_request_error', message, code: undefined }));
    const { status, error } = await service.chat('claude', { messages: hello });
    expect([status, error.code, error.type, error.message]).toEqual([
      400,
      'context_length_exceeded',
      'invalid_request_error',
      message,
    ]);
  });

  it.each(['chat', 'answers'])('is reported to Responses clients with its code if it comes from the model %s', async (model) => {
    upstream.script(model === 'chat' ? overflow : createFailedResponse('context_length_exceeded'));
    const body = { model, input: 'Hello', store: false };
    const { status, json } = await service.sendRequest({ path: '/v1/responses', headers: withKey(), body });
    expect([status, (json as { error: { code: string } }).error.code]).toEqual([400, 'context_length_exceeded']);
  });
});

describe('upstream that sends response.failed', () => {
  it.each([
    ['context_length_exceeded', 400, 'context_length_exceeded'],
    ['invalid_prompt', 400, 'invalid_prompt'],
    ['rate_limit_exceeded', 429, 'upstream_rate_limited'],
  ])('with the code %s leads to the matching status', async (code, status, expectedCode) => {
    upstream.script(createFailedResponse(code, 'Not this one.'));
    const response = await service.chat('answers', { messages: hello, stream: true });
    expect([response.status, response.error.code]).toEqual([status, expectedCode]);
  });

  it('is not marked as failing for a context overflow', async () => {
    const count = upstream.requests.length;
    upstream.script(createFailedResponse('context_length_exceeded'));
    for (let nth = 0; nth < 4; nth += 1) expect((await service.chat('answers', { messages: hello })).status).toBe(400);
    expect(upstream.requests.length - count).toBe(4);
    const health = await service.sendRequest({ method: 'GET', path: '/health' });
    expect(JSON.stringify(health.json)).not.toContain('failing');
  });
});

describe('count_tokens', () => {
  it.each([404, 405, 501])('returns the local estimate if the upstream responds with %i', async (status) => {
    upstream.script(errorReply(status));
    const count = await anthropic().messages.countTokens({ model: 'claude', messages: messagesRequest.messages });
    expect(count.input_tokens).toBeGreaterThan(0);
  });
});

describe('upstream that cannot be reached', () => {
  const readErrorMessage = async (endpoint: string) => {
    await using unreachableService = await startService({ models: { m: { upstreams: [{ endpoint }], maxRetryAttempts: 1 } } });
    const { status, error } = await unreachableService.chat('m', { messages: hello });
    expect(status).toBe(503);
    return error.message;
  };
  const prefix = 'The upstream of m failed: The upstream cannot be reached: ';

  it('is reported with the cause and without its address', async () => {
    expect(await readErrorMessage('http://127.0.0.1:1/v1')).toBe(`${prefix}the connection was refused.`);
    expect(await readErrorMessage('http://no-such-host.invalid/v1')).toMatch(
      /^The upstream of m .*: (its host name was not found in DNS|DNS did not respond)\.$/,
    );
  });

  it('is reported with the cause if the TLS handshake fails', async () => {
    const plain = createServer((socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    plain.listen(0, '127.0.0.1');
    await waitUntilListening(plain as never);
    const { port } = plain.address() as { port: number };
    expect(await readErrorMessage(`https://127.0.0.1:${port}/v1`)).toMatch(/the TLS handshake failed \(\w+\)\.$/);
    plain.close();
  });
});
