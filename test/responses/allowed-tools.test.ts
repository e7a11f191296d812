import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import {
  eventsReply,
  jsonReply,
  piecesReply,
  type Reply,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { createClient } from './support.ts';

allowNonconformingUpstreams();

const tool = (name: string) => ({ type: 'function' as const, name, parameters: { type: 'object' }, strict: false });
/** The upstreams call `find`, which `tool_choice` does not allow. */
const request = {
  input: 'Go.',
  tools: [tool('find'), tool('book')],
  tool_choice: { type: 'allowed_tools' as const, mode: 'auto' as const, tools: [{ type: 'function', name: 'book' }] },
};
const call = (index: number, name: string) =>
  delta({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '{}' } }] } as never);

/** Returns a reply of an upstream with the Responses API that calls `find`. */
function createNativeCall(): Reply {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'find', arguments: '{}', status: 'completed' };
  const head = { id: 'resp_up', object: 'response', created_at: 1, model: 'up', status: 'in_progress', output: [], error: null };
  const usage = {
    ...{ input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  };
  const response = { ...head, status: 'completed', output: [item], usage };
  const events = [
    { type: 'response.created', response: head },
    { type: 'response.in_progress', response: head },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', arguments: '' } },
    { type: 'response.function_call_arguments.delta', item_id: item.id, output_index: 0, delta: '{}' },
    { type: 'response.function_call_arguments.done', item_id: item.id, output_index: 0, arguments: '{}' },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
  const bytes = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return (exchange) => (exchange.received.body.stream === true ? piecesReply(bytes) : jsonReply(response))(exchange);
}

describe('tool_choice of the type allowed_tools', () => {
  let database: ResponseDatabase;
  let upstream: ScriptedUpstream;
  let service: TestService;

  beforeAll(async () => {
    database = await openResponses('SQLite');
    upstream = await startScriptedUpstream();
    const upstreamFields = { endpoint: upstream.endpoint, key: 'k', model: 'up' };
    service = await startService(
      {
        models: {
          native: { upstreams: [{ ...upstreamFields, api: 'responses' }], maxRetryAttempts: 1 },
          chat: { upstreams: [upstreamFields], maxRetryAttempts: 1 },
        },
        keys: { [callerKey]: { project: 'p' } },
      },
      { responses: database.stores() },
    );
  });
  afterEach(() => service.forgetFailures());
  afterAll(async () => {
    await service.close();
    await upstream.close();
    await database[Symbol.asyncDispose]();
  });

  /** Returns the items that the client receives, and the error that ends the response. */
  async function respond(body: object, isStreamed: boolean): Promise<{ items: string[]; error?: string }> {
    const client = createClient(service);
    const items: string[] = [];
    const addItem = (item: object): void =>
      void items.push('name' in item ? String(item.name) : String((item as { type: string }).type));
    const createBody = { ...request, ...body } as never;
    try {
      if (isStreamed) {
        for await (const event of client.responses.stream(createBody))
          if (event.type === 'response.output_item.added') addItem(event.item);
      } else ((await client.responses.create(createBody)) as { output: object[] }).output.forEach(addItem);
      return { items };
    } catch (error) {
      return { items, error: (error as Error).message };
    }
  }

  describe.each([false, true])('(streamed: %s)', (isStreamed) => {
    it('suppresses a call outside the list', async () => {
      upstream.script(eventsReply(text('Let me see.'), call(0, 'find'), call(1, 'book'), finish('tool_calls')));
      expect(await respond({ model: 'chat' }, isStreamed)).toEqual({ items: ['message', 'book'] });
    });

    it('fails the response if no other call remains', async () => {
      upstream.script(eventsReply(call(0, 'find'), finish('tool_calls')));
      const { items, error } = await respond({ model: 'chat' }, isStreamed);
      expect(items).toEqual([]);
      expect(error).toContain('The model called the tool "find", which tool_choice of the request does not allow.');
    });

    it.each([
      ['unchanged', { store: false }],
      ['and stored', {}],
    ])('fails a response that is relayed %s', async (_way, body) => {
      upstream.script(createNativeCall());
      const { items, error } = await respond({ model: 'native', ...body }, isStreamed);
      expect(items).not.toContain('find');
      expect(error).toContain('The model called the tool "find", which tool_choice of the request does not allow.');
      upstream.script(createNativeCall());
      const allowed = { ...request.tool_choice, tools: [{ type: 'function', name: 'find' }] };
      const { items: all } = await respond({ model: 'native', ...body, tool_choice: allowed }, isStreamed);
      expect(all).toContain('find');
    });
  });
});
