import { describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import type { Reply, UpstreamExchange } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { getChatPath, type TestService } from '#test/start-service.ts';
import { chat, type LimitedService, readUsed, replyWithUsage, startLimited } from './support.ts';

/** Calls a deployment with the per-request key, as an application does. */
function callBack(service: TestService, { received }: UpstreamExchange, deployment: string): Promise<TestResponse> {
  const headers = { 'api-key': String(received.headers['api-key']), 'content-type': 'application/json' };
  return sendRequest(service.url, { path: getChatPath(deployment), headers, body: { messages: hello } });
}

/** Returns a reply that calls these deployments in order, and collects their responses in `answers`. */
function callEach({ service }: LimitedService, deployments: readonly string[], answers: TestResponse[] = []): Reply {
  return async (exchange) => {
    for (const deployment of deployments) answers.push(await callBack(service, exchange, deployment));
    exchange.head(200, { 'content-type': 'application/json' });
    exchange.response.end(JSON.stringify(plainCompletion('done', { usage: undefined })));
  };
}

describe('calls of an application', () => {
  it('count for the user who started the chain, each under its deployment', async () => {
    const limits = { minute: 1000, requestMinute: 10 };
    await using limited = await startLimited({ default: { limits: { '*': limits }, costLimit: { day: 10 } } });
    const { service, upstream } = limited;
    upstream.script(
      callEach(limited, ['m', 'second', 'm']),
      replyWithUsage(100, 50),
      callEach(limited, ['n']),
      replyWithUsage(10, 5),
      replyWithUsage(100, 50),
    );
    await chat(service, 'app');
    expect(await readUsed(service, 'm')).toMatchObject({ minuteRequestStats: 2, minuteTokenStats: 300 });
    expect(await readUsed(service, 'n')).toMatchObject({ minuteRequestStats: 1, minuteTokenStats: 15 });
    expect(await readUsed(service, 'second')).toMatchObject({ minuteRequestStats: 1, minuteTokenStats: 15 });
    expect(await readUsed(service, 'app')).toMatchObject({ minuteRequestStats: 1, minuteTokenStats: 315 });
    expect(await readUsed(service, 'm')).toMatchObject({ dayCostStats: 0.42 });
    expect(await readUsed(service, 'm', 'another')).toMatchObject({ minuteRequestStats: 0, dayCostStats: 0 });
  });

  it('are rejected if the limits of that user are used up', async () => {
    await using limited = await startLimited({ default: { limits: { m: { requestMinute: 2 } } } });
    const { service, upstream } = limited;
    const answers: TestResponse[] = [];
    upstream.script(callEach(limited, ['m', 'm', 'm'], answers), replyWithUsage(7, 5), replyWithUsage(7, 5));
    expect((await chat(service, 'app')).status).toBe(200);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[1]?.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '0' });
    expect((await chat(service, 'm')).error.code).toBe('request_limit_exceeded');
  });

  it('have the limits that the roles of that user set', async () => {
    await using limited = await startLimited({
      default: { limits: { m: { requestMinute: 1 } } },
      staff: { limits: { m: { requestMinute: 3 } } },
    });
    const { service, upstream } = limited;
    const answers: TestResponse[] = [];
    upstream.script(
      callEach(limited, ['m', 'm', 'm', 'm'], answers),
      replyWithUsage(7, 5),
      replyWithUsage(7, 5),
      replyWithUsage(7, 5),
    );
    await chat(service, 'app', 'staff');
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  });
});
