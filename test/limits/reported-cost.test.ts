import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion, plainReply } from '#test/chunks.ts';
import { eventsReply, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const { endpoint } = upstream;
  service = await startService({
    models: {
      priced: { upstreams: [{ endpoint }], pricing: { prompt: 0.001, completion: 0.002 } },
      free: { upstreams: [{ endpoint }] },
    },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

/** Cost of 7 prompt tokens and 5 completion tokens. */
const cost = 0.017;
const header = { 'x-parley-include-cost': 'true' };

describe('usage.cost', () => {
  it('is in a JSON response if the header requests it', async () => {
    upstream.script(jsonReply(plainCompletion('Hi.')));
    const requested = await service.chat('priced', { messages: hello }, header);
    const withoutHeader = await service.chat('priced', { messages: hello });
    const free = await service.chat('free', { messages: hello }, header);
    expect([requested, withoutHeader, free].map(({ completion }) => completion.usage?.cost)).toEqual([
      cost,
      undefined,
      undefined,
    ]);
  });

  it('is in a stream if stream_options requests it, and the option is not sent upstream', async () => {
    upstream.script(eventsReply(...plainReply('Hi.')));
    const body = { messages: hello, stream_options: { include_usage: true, include_cost: true } };
    const { usages } = await (await service.stream('priced', body)).readRest();
    expect(usages.at(-1)).toMatchObject({ total_tokens: 12, cost });
    expect(upstream.requests.at(-1)?.body.stream_options).toEqual({ include_usage: true });
  });

  it('is in responses of the Messages and the Responses API', async () => {
    upstream.script(jsonReply(plainCompletion('Hi.')));
    const headers = { ...withKey(), ...header };
    const message = await service.sendRequest({
      path: '/msgapi/v1/messages',
      headers,
      body: { model: 'priced', max_tokens: 10, messages: hello },
    });
    const response = await service.sendRequest({
      path: '/v1/responses',
      headers,
      body: { model: 'priced', input: 'Hello', store: false },
    });
    expect([message.json, response.json]).toMatchObject([{ usage: { cost } }, { parley: { cost } }]);
  });
});
