import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, plainReply } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { eventsReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { quickApp } from '../quick-apps/support.ts';
import { createNativeReply } from './native-reply.ts';
import { createClient } from './support.ts';

const ring = { client_toolset: [{ name: 'ring', description: 'Rings a bell.', parameters: [] }] };

describe('a stored conversation that continues with another model', () => {
  let stored: ResponseDatabase;
  let upstream: ScriptedUpstream;
  let service: TestService;

  beforeAll(async () => {
    stored = await openResponses('SQLite');
    upstream = await startScriptedUpstream();
    const upstreamFields = { endpoint: upstream.endpoint, key: 'k', model: 'up' };
    service = await startService(
      {
        models: {
          native: { upstreams: [{ ...upstreamFields, api: 'responses' }], maxRetryAttempts: 1 },
          chat: { upstreams: [upstreamFields], maxRetryAttempts: 1 },
        },
        applications: {
          one: quickApp({ ...ring, model: 'chat' }),
          other: quickApp({ model: 'chat' }),
          remote: { endpoint: `${upstream.endpoint}/chat/completions` },
        },
        keys: { [callerKey]: { project: 'p' } },
      },
      { responses: stored.stores() },
    );
  });
  afterAll(async () => {
    await service.close();
    await upstream.close();
    await stored[Symbol.asyncDispose]();
  });

  const client = () => createClient(service);
  const output = { type: 'function_call_output' as const, call_id: 'call_1', output: 'found' };
  const readLastBody = async () => (await upstream.request(upstream.requests.length - 1)).body;

  it.each([false, true])(
    'omits sealed reasoning of another upstream API and lists it in Parley-Ignored (conversation: %s)',
    async (hasConversation) => {
      const conversation = hasConversation ? (await client().conversations.create()).id : undefined;
      upstream.script(createNativeReply(), eventsReply(...plainReply('Done')), createNativeReply());
      const first = await client().responses.create({
        model: 'native',
        input: 'Hi',
        ...(conversation !== undefined && { conversation }),
      });
      const toContinuation = (id: string) => (conversation === undefined ? { previous_response_id: id } : { conversation });
      const { data: second, response } = await client()
        .responses.create({ model: 'chat', input: [output], ...toContinuation(first.id) })
        .withResponse();
      expect(second.output_text).toBe('Done');
      expect(response.headers.get('parley-ignored')).toBe('reasoning.encrypted_content');
      const third = await client()
        .responses.create({ model: 'native', input: 'And?', ...toContinuation(second.id) })
        .withResponse();
      expect(third.data.status).toBe('completed');
      expect((await readLastBody()).input).toContainEqual(
        expect.objectContaining({ type: 'reasoning', encrypted_content: 'sealed' }),
      );
    },
  );

  it('omits the state of another application and lists it in Parley-Ignored', async () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'ring', arguments: '{}' } };
    upstream.script(
      eventsReply(delta({ role: 'assistant', tool_calls: [call] } as never), finish('tool_calls')),
      eventsReply(...plainReply('Done')),
    );
    const first = await client().responses.create({ model: 'one', input: 'Ring.' });
    const [callItem] = first.output;
    const { call_id } = callItem as { call_id: string };
    const input = [{ ...output, call_id }];
    for (const model of ['other', 'remote']) {
      const { data, response } = await client().responses.create({ model, input, previous_response_id: first.id }).withResponse();
      expect(data.output_text).toBe('Done');
      expect(response.headers.get('parley-ignored')).toBe('state');
      expect(JSON.stringify(await readLastBody())).not.toContain('parley_run');
    }
  });

  it('omits the sealed state of another application', async () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'ring', arguments: '{}' } };
    upstream.script(
      eventsReply(delta({ role: 'assistant', tool_calls: [call] } as never), finish('tool_calls')),
      eventsReply(...plainReply('Done')),
    );
    const first = await client().responses.create({ model: 'one', input: 'Ring.', store: false });
    const { call_id } = first.output[0] as { call_id: string };
    const input = [{ role: 'user', content: 'Ring.' }, ...first.output, { ...output, call_id }] as never;
    const { data, response } = await client().responses.create({ model: 'other', input, store: false }).withResponse();
    expect(data.output_text).toBe('Done');
    expect(response.headers.get('parley-ignored')).toBe('reasoning.encrypted_content');
  });
});
