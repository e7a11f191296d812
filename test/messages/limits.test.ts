import { describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { post } from './support.ts';

allowNonconformingUpstreams();

const usage = { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 5, output_tokens: 2 };
const native = { id: 'msg_up', type: 'message', role: 'assistant', content: [], usage };

/** Starts the service with limits. A call of `gpt` uses 7 + 5 tokens, a call of `claude` 12 + 2. */
async function startLimited(limits: object, costLimit: object = {}) {
  const upstream = await startScriptedUpstream(({ received, ...exchange }) =>
    jsonReply(received.path.endsWith('/messages') ? native : plainCompletion('hi'))({ received, ...exchange } as never),
  );
  const pricing = { prompt: 1, completion: 10, cacheRead: 0.1, cacheWrite: 2 };
  const service = await startService({
    models: {
      gpt: { upstreams: [{ endpoint: upstream.endpoint }] },
      claude: { upstreams: [{ protocol: 'anthropic', endpoint: upstream.endpoint }], pricing },
    },
    roles: { default: { limits: { '*': limits }, costLimit } },
  });
  const close = async (): Promise<void> => {
    await service.close();
    await upstream.close();
  };
  return { service, upstream, [Symbol.asyncDispose]: close };
}

async function getUsage(service: TestService, deployment: string): Promise<Record<string, { used: number }>> {
  const answer = await service.sendRequest({
    method: 'GET',
    path: `/v1/deployments/${deployment}/limits`,
    headers: { 'api-key': 'caller-key' },
  });
  return answer.json as Record<string, { used: number }>;
}

function summarize({ status, json, headers }: TestResponse): unknown[] {
  return [status, (json as { error: { type: string } }).error.type, headers['retry-after'] !== undefined];
}

describe('limits of the Messages API', () => {
  it.each([
    ['gpt', 12],
    ['claude', 14],
  ])('count the tokens of %s, translated or relayed', async (model, tokens) => {
    await using limited = await startLimited({ day: 1_000 });
    await post(limited.service, { model });
    expect((await getUsage(limited.service, model)).dayTokenStats?.used).toBe(tokens);
  });

  it('are shared with chat completions', async () => {
    await using limited = await startLimited({ day: 20 });
    const { service } = limited;
    expect((await service.chat('gpt', { messages: hello })).status).toBe(200);
    expect((await post(service, { model: 'gpt' })).status).toBe(200);
    const rejection = await post(service, { model: 'gpt' });
    expect(summarize(rejection)).toEqual([429, 'rate_limit_error', true]);
    expect(rejection.text).toContain('24 of 20');
    expect((await service.chat('gpt', { messages: hello })).status).toBe(429);
  });

  it('apply to relayed calls, which are not sent if a limit is exhausted', async () => {
    await using limited = await startLimited({ day: 14 });
    const { service, upstream } = limited;
    expect((await post(service, { model: 'claude' })).status).toBe(200);
    expect(summarize(await post(service, { model: 'claude', stream: true }))).toEqual([429, 'rate_limit_error', true]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('report the remaining quota in response headers', async () => {
    await using limited = await startLimited({ requestDay: 5 });
    const { headers } = await post(limited.service, { model: 'claude' });
    expect(headers).toMatchObject({ 'x-ratelimit-limit-requests': '5', 'x-ratelimit-remaining-requests': '4' });
  });

  it('report the remaining quota of a rejected call in OpenAI and Anthropic headers', async () => {
    await using limited = await startLimited({ requestDay: 1 });
    await post(limited.service, { model: 'gpt' });
    const { status, headers } = await post(limited.service, { model: 'gpt', stream: true });
    expect([status, headers['x-ratelimit-remaining-requests']]).toEqual([429, '0']);
    expect(headers).toMatchObject({
      'anthropic-ratelimit-requests-limit': '1',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  it('count the cost of cached tokens', async () => {
    await using limited = await startLimited({}, { day: 1_000 });
    await post(limited.service, { model: 'claude' });
    expect((await getUsage(limited.service, 'claude')).dayCostStats?.used).toBeCloseTo(3 + 0.4 + 10 + 20);
  });

  it('are not used by token counting or rejected requests', async () => {
    await using limited = await startLimited({ day: 1_000, requestDay: 10 });
    const { service } = limited;
    const headers = { 'api-key': 'caller-key', 'content-type': 'application/json' };
    await service.sendRequest({ path: '/msgapi/v1/messages/count_tokens', headers, body: { model: 'gpt', messages: hello } });
    await post(service, { model: 'gpt', messages: [] });
    expect(await getUsage(service, 'gpt')).toMatchObject({ dayTokenStats: { used: 0 }, dayRequestStats: { used: 0 } });
  });
});
