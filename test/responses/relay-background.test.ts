import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { createClient } from './support.ts';

allowNonconformingUpstreams();

const head = { id: 'resp_up', object: 'response', created_at: 1, model: 'up', status: 'in_progress', output: [], error: null };
const message = {
  ...{ type: 'message', id: 'msg_up', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
};
const opening = [
  { type: 'response.created', sequence_number: 0, response: head },
  {
    type: 'response.output_item.added',
    sequence_number: 1,
    output_index: 0,
    item: { ...message, status: 'in_progress', content: [] },
  },
];
const usage = {
  ...{ input_tokens: 7, output_tokens: 5, total_tokens: 12 },
  ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
};
const ending = [
  { type: 'response.output_item.done', sequence_number: 2, output_index: 0, item: message },
  { type: 'response.completed', sequence_number: 3, response: { ...head, status: 'completed', output: [message], usage } },
];

describe.each(['SQLite', 'PostgreSQL'] as const)('background responses on %s', (engine) => {
  let upstream: ScriptedUpstream;
  let stored: ResponseDatabase;
  let service: TestService;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    stored = await openResponses(engine);
    const native = { endpoint: upstream.endpoint, key: 'k', model: 'up', api: 'responses' };
    const configuration = {
      models: { m: { upstreams: [native], maxRetryAttempts: 1 } },
      keys: { [callerKey]: { project: 'p' } },
    };
    service = await startService(configuration, { responses: stored.stores() });
  });

  afterAll(async () => {
    await service.close();
    await upstream.close();
    await stored[Symbol.asyncDispose]();
  });

  describe('run with an upstream of the Responses API', () => {
    it('streams from the upstream without its storage, and is stored with its events in Parley', async () => {
      upstream.script(async (exchange: UpstreamExchange) => {
        exchange.head();
        await exchange.events(...opening, ...ending);
        exchange.done();
      });
      const client = createClient(service);
      const queued = await client.responses.create({ model: 'm', input: 'Hi', background: true });
      expect(queued).toMatchObject({ status: 'queued', background: true });
      const { body } = await upstream.request(0);
      expect(body).toMatchObject({ stream: true, store: false });
      expect(body).not.toHaveProperty('background');
      const ended = await vi.waitFor(async () => {
        const response = await client.responses.retrieve(queued.id);
        expect(response.status).toBe('completed');
        return response;
      }, 10_000);
      expect(ended).toMatchObject({
        id: queued.id,
        background: true,
        store: true,
        output: [message],
        usage: { total_tokens: 12 },
      });
      const events: [number, string][] = [];
      for await (const { sequence_number, type } of await client.responses.retrieve(queued.id, {
        stream: true,
        starting_after: 2,
      }))
        events.push([sequence_number, type]);
      expect(events).toEqual([
        [3, 'response.output_item.added'],
        [4, 'response.output_item.done'],
        [5, 'response.completed'],
      ]);
    });

    it('cancels the upstream request when it is canceled', async () => {
      const requestIndex = upstream.requests.length;
      upstream.script(async (exchange: UpstreamExchange) => {
        exchange.head();
        await exchange.events(...opening);
      });
      const client = createClient(service);
      const { id } = await client.responses.create({ model: 'm', input: 'Hi', background: true });
      const { closed } = await upstream.request(requestIndex);
      expect((await client.responses.cancel(id)).status).toBe('cancelled');
      expect((await closed).early).toBe(true);
      expect((await client.responses.retrieve(id)).status).toBe('cancelled');
    });
  });
});
