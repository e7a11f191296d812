import type OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import {
  errorReply,
  eventsReply,
  piecesReply,
  type Reply,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { createClient } from './support.ts';

allowNonconformingUpstreams();

const head = { id: 'resp_up', object: 'response', created_at: 1, model: 'up', status: 'in_progress', output: [], error: null };
const part = { type: 'output_text', text: 'So.', annotations: [], logprobs: [] };
const message = { type: 'message', id: 'msg_up', status: 'completed', role: 'assistant', content: [part] };
const location = { item_id: 'msg_up', output_index: 0, content_index: 0 };
const opening = [
  { type: 'response.created', response: head },
  { type: 'response.in_progress', response: head },
];
const rest = [
  { type: 'response.output_item.added', output_index: 0, item: { ...message, status: 'in_progress', content: [] } },
  { type: 'response.content_part.added', ...location, part: { ...part, text: '' } },
  { type: 'response.output_text.delta', ...location, delta: 'So.', logprobs: [] },
  { type: 'response.output_text.done', ...location, text: 'So.', logprobs: [] },
  { type: 'response.content_part.done', ...location, part },
  { type: 'response.output_item.done', output_index: 0, item: message },
  { type: 'response.completed', response: { ...head, status: 'completed', output: [message] } },
];
const toBytes = (events: object[], first = 0): string =>
  events
    .map((event, nth) => ({ ...event, sequence_number: first + nth }) as unknown as { type: string })
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');

describe('response.created', () => {
  let upstream: ScriptedUpstream;
  let service: TestService;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    const upstreamFields = { endpoint: upstream.endpoint, key: 'k', model: 'up' };
    service = await startService({
      models: {
        native: { upstreams: [{ ...upstreamFields, api: 'responses' }], maxRetryAttempts: 1 },
        chat: { upstreams: [upstreamFields], maxRetryAttempts: 1 },
      },
      keys: { [callerKey]: { project: 'p' } },
    });
  });
  afterEach(() => service.forgetFailures());
  afterAll(async () => {
    await service.close();
    await upstream.close();
  });

  /** Scripts a reply that waits until the returned function is called. */
  function scriptHeld(reply: Reply, before?: string): () => void {
    const gate = Promise.withResolvers<void>();
    upstream.script((exchange) => {
      if (before !== undefined) {
        exchange.response.writeHead(200, { 'content-type': 'text/event-stream' });
        exchange.response.write(before);
      }
      void gate.promise.then(() => reply(exchange));
    });
    return gate.resolve;
  }

  async function open(model: string, more: object = {}) {
    const request = { model, input: 'Hi', stream: true, store: false, ...more } as OpenAI.Responses.ResponseCreateParamsStreaming;
    const stream = await createClient(service).responses.create(request);
    const events = stream[Symbol.asyncIterator]();
    const next = async () => (await events.next()).value as OpenAI.Responses.ResponseStreamEvent | undefined;
    const first = await next();
    return {
      first,
      rest: async () => {
        const all = [first];
        for (let event = await next(); event !== undefined; event = await next()) all.push(event);
        return all;
      },
    };
  }

  it.each([
    ['with the chat API', 'chat', {}, eventsReply(...plainReply('So.')), undefined],
    ['that is relayed', 'native', {}, piecesReply(toBytes([...opening, ...rest])), undefined],
    [
      'that is relayed and stalls after its first events',
      'native',
      {},
      ({ response }) => void response.end(toBytes(rest, 2)),
      toBytes(opening),
    ],
    [
      'with sealed reasoning',
      'native',
      { include: ['reasoning.encrypted_content'] },
      piecesReply(toBytes([...opening, ...rest])),
      undefined,
    ],
  ] satisfies [string, string, object, Reply, string | undefined][])(
    'is sent before the first output of a slow upstream %s',
    async (_what, model, more, reply, before) => {
      const release = scriptHeld(reply, before);
      const { first, rest: readRest } = await open(model, more);
      expect(first?.type).toBe('response.created');
      release();
      const events = await readRest();
      expect(events.map((event) => event?.sequence_number)).toEqual(events.map((_event, nth) => nth));
      expect(events.slice(0, 3).map((event) => event?.type)).toEqual([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
      ]);
      const last = events.at(-1) as OpenAI.Responses.ResponseCompletedEvent;
      expect([last.type, last.response.id]).toEqual(['response.completed', (first as typeof last).response.id]);
      expect(last.response.output[0]).toMatchObject({ content: [{ text: 'So.' }] });
    },
  );

  it('is followed by the error of a slow upstream', async () => {
    const release = scriptHeld(errorReply(400));
    const { first, rest: readRest } = await open('chat');
    expect(first?.type).toBe('response.created');
    release();
    await expect(readRest()).rejects.toThrow('upstream says 400');
  });

  it('is not sent before an error that arrives within 1 s', async () => {
    upstream.script(errorReply(400));
    await expect(open('chat')).rejects.toMatchObject({ status: 400 });
  });
});
