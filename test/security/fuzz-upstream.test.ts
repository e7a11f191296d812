import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { delta, finish, hello, plainCompletion, usage } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { requireErrorShape } from '#test/sane-answer.ts';
import { toEvent } from '#test/scripted-upstream.ts';
import { withKey } from '#test/start-service.ts';
import { createBounds, createNearMiss, failOnUnhandledRejection, requireInTime } from './fuzz-support.ts';
import { type FullService, startFullService } from './support.ts';

allowNonconformingUpstreams();

let fullService: FullService;

failOnUnhandledRejection();

beforeAll(async () => {
  fullService = await startFullService((url) => {
    const once = { maxRetryAttempts: 1 };
    const timeouts = { connectMs: 500, firstByteMs: 500, idleMs: 500 };
    return {
      models: {
        gpt: { upstreams: [{ endpoint: `${url}/v1`, timeouts }], ...once },
        claude: { upstreams: [{ protocol: 'anthropic', endpoint: `${url}/v1`, timeouts }], ...once },
        gemini: { upstreams: [{ protocol: 'gemini', endpoint: `${url}/v1beta`, key: 'k', timeouts }], ...once },
        vectors: { type: 'embedding', upstreams: [{ endpoint: `${url}/v1`, timeouts }], ...once },
      },
      applications: { app: { endpoint: `${url}/app`, ...once } },
    };
  });
});

afterAll(async () => {
  await fullService[Symbol.asyncDispose]();
});

interface ClientRequest {
  readonly deployment: string;
  readonly isStreamed: boolean;
  readonly isMessages: boolean;
}

/** Answer of an upstream. */
interface UpstreamAnswer {
  readonly status: number;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Sends a request while the upstream gives the answer, and requires a complete answer without an internal error. */
async function requireMapped({ deployment, isStreamed, isMessages }: ClientRequest, exchange: UpstreamAnswer): Promise<void> {
  // Parley pauses an upstream after a failure.
  fullService.service.forgetFailures();
  fullService.host.script(({ response }) => {
    response.writeHead(exchange.status, { 'content-type': exchange.type });
    response.end(exchange.bytes);
  });
  const path = isMessages ? '/msgapi/v1/messages' : deployment === 'vectors' ? '/v1/embeddings' : '/v1/chat/completions';
  const body = { model: deployment, max_tokens: 5, messages: hello, input: 'x', stream: isStreamed };
  const { status, text, headers } = await requireInTime(
    fullService.service.sendRequest({ path, headers: withKey(), body }),
    'an answer',
  );
  if (text.includes('internal_error')) throw new Error(`an internal error: ${text}`);
  if (status >= 400) return requireErrorShape(text);
  if (headers['content-type']?.startsWith('application/json')) return void JSON.parse(text);
  requireEnd(text, isMessages);
}

/** A stream ends with its end event or with an error in the format of its API. Each earlier chat event is JSON. */
function requireEnd(text: string, isMessages: boolean): void {
  const events = text.split('\n\n').filter((event) => event !== '' && !event.startsWith(':'));
  const last = events.at(-1) ?? '';
  if (!isMessages && last !== 'data: [DONE]') throw new Error(`no end mark: ${text}`);
  if (isMessages && !/message_stop|^event: error\n/.test(last)) throw new Error(`no end: ${text}`);
  if (!isMessages) for (const event of events.slice(0, -1)) JSON.parse(event.replace('data: ', ''));
  const beforeEnd = isMessages ? last : (events.at(-2) ?? '');
  const data = /^data: (.*"error".*)$/m.exec(beforeEnd)?.[1];
  if (data !== undefined) requireErrorShape(data);
}

function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/${name}.sse`, import.meta.url), 'utf8');
}

const call = delta({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] });
const chunks = [delta({ role: 'assistant', content: 'Hi' }), call, finish(), usage(1, 1)];
const streams: Readonly<Record<string, string>> = {
  gpt: `${chunks.map(toEvent).join('')}data: [DONE]\n\n`,
  claude: fixture('anthropic/thinking-tools'),
  gemini: fixture('gemini/thinking-tools'),
  app: `${chunks.map(toEvent).join('')}data: [DONE]\n\n`,
  vectors: '',
};
const deployment = fc.constantFrom('gpt', 'claude', 'gemini', 'app', 'vectors');
const clientRequest: fc.Arbitrary<ClientRequest> = fc.record({ deployment, isStreamed: fc.boolean(), isMessages: fc.boolean() });
const status = fc.constantFrom(200, 200, 200, 200, 204, 301, 400, 401, 404, 413, 429, 500, 503, 599);
const type = fc.constantFrom('text/event-stream', 'application/json', 'text/html', '');

describe('upstream', () => {
  it("that answers with arbitrary bytes causes an upstream error in the format of the client's API", async () => {
    const bytes = fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each));
    await fc.assert(
      fc.asyncProperty(clientRequest, fc.record({ status, type, bytes }), (request, exchange) =>
        requireMapped(request, exchange),
      ),
      createBounds(150),
    );
  });

  it('that sends arbitrary JSON events causes a complete stream or an error', async () => {
    const names = ['', 'event: message_start\n', 'event: error\n', 'event: content_block_delta\n', 'id: 1\n', ': x\n'];
    const event = fc.tuple(
      fc.constantFrom(...names),
      fc.oneof(
        createNearMiss(chunks).map((each) => JSON.stringify(each)),
        fc.json(),
        fc.string(),
      ),
    );
    const bytes = fc
      .array(event, { maxLength: 6 })
      .map((events) => Buffer.from(`${events.map(([name, data]) => `${name}data: ${data}\n\n`).join('')}data: [DONE]\n\n`));
    await fc.assert(
      fc.asyncProperty(clientRequest, bytes, (request, sent) =>
        requireMapped(request, { status: 200, type: 'text/event-stream', bytes: sent }),
      ),
      createBounds(150),
    );
  });

  it('with a damaged stream causes a complete stream or an error', async () => {
    const damage = fc.record({ at: fc.nat(), cut: fc.boolean(), byte: fc.constantFrom(...'{}[]":,n0\n\r\\u') });
    await fc.assert(
      fc.asyncProperty(clientRequest, damage, (request, { at, cut, byte }) => {
        const bytes = Buffer.from(streams[request.deployment] ?? '');
        const place = at % (bytes.length + 1);
        if (place < bytes.length) bytes.write(byte, place);
        return requireMapped(request, { status: 200, type: 'text/event-stream', bytes: cut ? bytes.subarray(0, place) : bytes });
      }),
      createBounds(200),
    );
  });

  it('with almost valid events causes a complete stream or an error', async () => {
    const bytes = createNearMiss(chunks).map((value) => {
      const events = Array.isArray(value) ? value : [value];
      return Buffer.from(`${events.map(toEvent).join('')}data: [DONE]\n\n`);
    });
    const request = clientRequest.map((each) => ({ ...each, deployment: each.deployment === 'app' ? 'app' : 'gpt' }));
    await fc.assert(
      fc.asyncProperty(request, bytes, (each, sent) =>
        requireMapped(each, { status: 200, type: 'text/event-stream', bytes: sent }),
      ),
      createBounds(200),
    );
  });

  it('with almost valid JSON causes an answer or an error', async () => {
    const vectors = {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [1] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    };
    const message = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const error = { error: { type: 'a', message: 'b', param: 'c', code: 'd' } };
    const bytes = fc
      .constantFrom<object>(plainCompletion('hi'), vectors, message, error)
      .chain(createNearMiss)
      .map((value) => Buffer.from(JSON.stringify(value) ?? ''));
    await fc.assert(
      fc.asyncProperty(clientRequest, status, bytes, (request, replyStatus, sent) =>
        requireMapped(request, { status: replyStatus, type: 'application/json', bytes: sent }),
      ),
      createBounds(200),
    );
  });
});
