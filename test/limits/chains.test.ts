import { describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import type { Answering, Reply } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { chatPath, type TestService } from '#test/start-service.ts';
import { chat, counted, type LimitedService, startLimited, usedOf } from './support.ts';

/** Calls back with the key of the request, as an application does. */
function callBack(service: TestService, { received }: Answering, deployment: string): Promise<TestResponse> {
  const headers = { 'api-key': String(received.headers['api-key']), 'content-type': 'application/json' };
  return sendRequest(service.url, { path: chatPath(deployment), headers, body: { messages: hello } });
}

/** An application that calls these one after the other; `answers` gets what they said. */
function calling({ service }: LimitedService, deployments: readonly string[], answers: TestResponse[] = []): Reply {
  return async (answering) => {
    for (const deployment of deployments) answers.push(await callBack(service, answering, deployment));
    answering.head(200, { 'content-type': 'application/json' });
    answering.response.end(JSON.stringify(plainCompletion('done', { usage: undefined })));
  };
}

describe('calls of an application', () => {
  it('count for the user who started the chain, each under its deployment', async () => {
    const each = { minute: 1000, requestMinute: 10 };
    await using limited = await startLimited({ default: { limits: { '*': each }, costLimit: { day: 10 } } });
    const { service, upstream } = limited;
    upstream.script(
      calling(limited, ['m', 'second', 'm']),
      counted(100, 50),
      calling(limited, ['n']),
      counted(10, 5),
      counted(100, 50),
    );
    await chat(service, 'app');
    expect(await usedOf(service, 'm')).toMatchObject({ minuteRequestStats: 2, minuteTokenStats: 300 });
    expect(await usedOf(service, 'n')).toMatchObject({ minuteRequestStats: 1, minuteTokenStats: 15 });
    expect(await usedOf(service, 'second')).toMatchObject({ minuteRequestStats: 1, minuteTokenStats: 15 });
    expect(await usedOf(service, 'app')).toMatchObject({ minuteRequestStats: 1, minuteTokenStats: 315 });
    expect(await usedOf(service, 'm')).toMatchObject({ dayCostStats: 0.42 });
    expect(await usedOf(service, 'm', 'another')).toMatchObject({ minuteRequestStats: 0, dayCostStats: 0 });
  });

  it('are rejected if the limits of that user are used up', async () => {
    await using limited = await startLimited({ default: { limits: { m: { requestMinute: 2 } } } });
    const { service, upstream } = limited;
    const answers: TestResponse[] = [];
    upstream.script(calling(limited, ['m', 'm', 'm'], answers), counted(7, 5), counted(7, 5));
    expect((await chat(service, 'app')).status).toBe(200);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[1]?.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '0' });
    expect((await chat(service, 'm')).error.code).toBe('request_limit_exceeded');
  });

  it('have the limits of the roles of that user', async () => {
    await using limited = await startLimited({
      default: { limits: { m: { requestMinute: 1 } } },
      staff: { limits: { m: { requestMinute: 3 } } },
    });
    const { service, upstream } = limited;
    const answers: TestResponse[] = [];
    upstream.script(calling(limited, ['m', 'm', 'm', 'm'], answers), counted(7, 5), counted(7, 5), counted(7, 5));
    await chat(service, 'app', 'staff');
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  });
});
