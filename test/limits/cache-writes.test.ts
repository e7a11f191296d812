import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { RecordedTelemetry } from '#test/recorded-telemetry.ts';
import { jsonReply, piecesReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { toNamed } from '../messages/support.ts';

let upstream: ScriptedUpstream;
let service: TestService;
const telemetry = new RecordedTelemetry();

const prices = { prompt: 0.001, cacheRead: 0.0001, cacheWrite: 0.002, cacheWrite1h: 0.004 };

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const { endpoint } = upstream;
  const configuration = {
    models: {
      claude: { upstreams: [{ protocol: 'anthropic', endpoint, key: 'k' }], pricing: prices },
      gateway: { upstreams: [{ endpoint }], pricing: prices },
    },
    keys: { [callerKey]: { project: 'p' } },
    roles: { default: { costLimit: { month: 1000 } } },
  };
  service = await startService(configuration, { telemetry });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const usage = {
  ...{ input_tokens: 10, output_tokens: 0, cache_read_input_tokens: 100, cache_creation_input_tokens: 300 },
  ...{ cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 }, service_tier: 'priority' },
};
const message = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'end_turn', stop_sequence: null },
  ...{ content: [{ type: 'text', text: 'Hi.' }], usage },
};
/** Cost of 10 new tokens, 100 tokens from the cache, 100 tokens cached for 5 minutes, and 200 cached for an hour. */
const cost = 0.01 + 0.01 + 0.2 + 0.8;

async function readSpentCost(): Promise<number> {
  const { json } = await service.sendRequest({ method: 'GET', path: '/v1/deployments/claude/limits', headers: withKey() });
  return (json as { monthCostStats: { used: number } }).monthCostStats.used;
}

async function measureCost(call: () => Promise<unknown>): Promise<number> {
  const before = await readSpentCost();
  await call();
  return Number(((await readSpentCost()) - before).toFixed(9));
}

describe('cache writes for 5 minutes and for an hour', () => {
  it('are charged separately and reported to a chat client', async () => {
    upstream.script(jsonReply(message));
    let answer: Awaited<ReturnType<TestService['chat']>> | undefined;
    const charged = await measureCost(async () => {
      answer = await service.chat('claude', { messages: hello });
    });
    expect(charged).toBe(cost);
    const details = { cacheReadTokens: 100, cacheWriteTokens: 300, cacheWrite1hTokens: 200, serviceTier: 'priority' };
    expect(telemetry.records.at(-1)?.details).toEqual(details);
    expect(answer?.completion.usage).toMatchObject({
      prompt_tokens: 410,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 300, cache_write_1h_tokens: 200 },
      service_tier: 'priority',
    });
  });

  it('are charged separately in a relayed stream', async () => {
    const start = { type: 'message_start', message: { ...message, content: [], stop_reason: null } };
    const end = { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 0 } };
    upstream.script(piecesReply(toNamed(start), toNamed(end), toNamed({ type: 'message_stop' })));
    const body = { model: 'claude', max_tokens: 10, stream: true, messages: hello };
    expect(await measureCost(() => service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body }))).toBe(cost);
  });

  it('are charged and sent to a Messages client if a gateway reports them in its own format', async () => {
    const upstreamUsage = {
      prompt_tokens: 410,
      completion_tokens: 0,
      total_tokens: 410,
      prompt_tokens_details: { cached_tokens: 100 },
    };
    const { cache_creation, cache_creation_input_tokens } = usage;
    upstream.script(
      jsonReply(plainCompletion('Hi.', { usage: { ...upstreamUsage, cache_creation, cache_creation_input_tokens } })),
    );
    const body = { model: 'gateway', max_tokens: 10, messages: hello };
    let messageBody: unknown;
    const charged = await measureCost(async () => {
      messageBody = (await service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body })).json;
    });
    expect([charged, messageBody]).toMatchObject([
      cost,
      { usage: { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 300, cache_creation } },
    ]);
  });
});

describe('service tier of an upstream', () => {
  it.each(['top level', 'usage'])('is reported by all APIs and recorded, if the upstream sends it in: %s', async (place) => {
    const counts = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const fields = place === 'usage' ? { usage: { ...counts, service_tier: 'flex' } } : { usage: counts, service_tier: 'flex' };
    upstream.script(jsonReply(plainCompletion('Hi.', fields)));
    const send = async (path: string, body: object) => (await service.sendRequest({ path, headers: withKey(), body })).json;
    expect(await send('/msgapi/v1/messages', { model: 'gateway', max_tokens: 10, messages: hello })).toMatchObject({
      usage: { service_tier: 'flex' },
    });
    expect(await send('/v1/responses', { model: 'gateway', input: 'Hello', store: false })).toMatchObject({
      service_tier: 'flex',
    });
    expect(telemetry.records.at(-1)?.details).toEqual({ serviceTier: 'flex' });
  });
});
