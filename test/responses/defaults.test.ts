import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { eventsReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { createNativeReply } from './native-reply.ts';
import { post } from './support.ts';

allowNonconformingUpstreams();

describe('defaults of a deployment', () => {
  let upstream: ScriptedUpstream;
  let service: TestService;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    const upstreamFields = { endpoint: upstream.endpoint, key: 'k', model: 'up' };
    const defaults = { temperature: 0.5, max_tokens: 300, reasoning_effort: 'low', verbosity: 'low', top_p: 0.9 };
    service = await startService({
      models: {
        native: { upstreams: [{ ...upstreamFields, api: 'responses' }], defaults },
        both: { upstreams: [{ ...upstreamFields, api: 'both' }], defaults },
        chat: { upstreams: [upstreamFields], defaults: { max_tokens: 300 } },
        newer: { upstreams: [upstreamFields], defaults: { max_completion_tokens: 300 } },
      },
      keys: { [callerKey]: { project: 'p' } },
    });
  });
  afterAll(async () => {
    await service.close();
    await upstream.close();
  });

  const readLastBody = async () => (await upstream.request(upstream.requests.length - 1)).body;

  it.each(['native', 'both'])('apply to a relayed call if the request has no value (%s)', async (model) => {
    upstream.script(createNativeReply());
    await post(service, { model, input: 'Hi', store: false, top_p: 0.1, temperature: null, text: { format: { type: 'text' } } });
    expect(await readLastBody()).toMatchObject({
      ...{ temperature: 0.5, top_p: 0.1, max_output_tokens: 300, reasoning: { effort: 'low' } },
      text: { format: { type: 'text' }, verbosity: 'low' },
    });
  });

  it('do not override the values of a relayed request', async () => {
    const values = {
      temperature: 1,
      top_p: 1,
      max_output_tokens: 50,
      reasoning: { effort: 'high' },
      text: { verbosity: 'high' },
    };
    const body = { input: 'Hi', store: false, ...values };
    upstream.script(createNativeReply());
    await post(service, { model: 'native', ...body });
    expect(await readLastBody()).toEqual({ model: 'up', ...body });
  });

  it('do not add a second token limit to a request that has one', async () => {
    upstream.script(eventsReply(...plainReply('Fine.')));
    const messages = [{ role: 'user', content: 'Hi' }];
    await service.chat('chat', { messages, max_completion_tokens: 50 });
    expect([(await readLastBody()).max_tokens, (await readLastBody()).max_completion_tokens]).toEqual([undefined, 50]);
    await service.chat('newer', { messages, max_tokens: 50 });
    expect([(await readLastBody()).max_tokens, (await readLastBody()).max_completion_tokens]).toEqual([50, undefined]);
    await service.chat('newer', { messages });
    expect((await readLastBody()).max_completion_tokens).toBe(300);
    await post(service, { model: 'chat', input: 'Hi', reasoning: { effort: 'low' }, max_output_tokens: 50 });
    expect([(await readLastBody()).max_tokens, (await readLastBody()).max_completion_tokens]).toEqual([undefined, 50]);
  });
});
