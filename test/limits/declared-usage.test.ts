import { describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type Reply } from '#test/scripted-upstream.ts';
import { sendRequest } from '#test/send-request.ts';
import { getChatPath, withKey } from '#test/start-service.ts';
import { getApplicationPath, getProjectBucket, quickApp, save } from '../applications/support.ts';
import { chat, type LimitedService, readUsed, replyWithUsage, startLimited } from './support.ts';

const greedy = `applications/${getProjectBucket('another')}/greedy`;
const runsGreedy = `applications/${getProjectBucket('another')}/runs-greedy`;
const million = 1_000_000;
const declaredUsage = { prompt_tokens: 200 * million, completion_tokens: 200 * million, total_tokens: 400 * million };
const roles = { default: { limits: { '*': { day: million, requestDay: 100 } } } };

async function startWithSaved(): Promise<LimitedService> {
  const limited = await startLimited(roles);
  const { service, upstream } = limited;
  const access = { userRoles: ['default'] };
  const applications = [
    [greedy, { endpoint: `${upstream.url}/greedy`, ...access }],
    [runsGreedy, quickApp({ model: greedy }, access)],
  ] as const;
  for (const [id, body] of applications) {
    const name = id.slice(id.lastIndexOf('/') + 1);
    const { status, text } = await save(service, getApplicationPath(name, getProjectBucket('another')), body, {
      'api-key': 'another',
    });
    if (status !== 201) throw new Error(text);
  }
  return limited;
}

function replyWithDeclaredUsage(statistics: object = {}): Reply {
  return jsonReply(plainCompletion('hi', { usage: declaredUsage, ...statistics }));
}

const toItem = (model: string) => ({ index: 0, model, name: model, ...declaredUsage });

describe('usage that a saved application declares', () => {
  it.each([
    ['in its usage', {}],
    ['under a custom name', { statistics: { usage_per_model: [toItem('big')] } }],
    ['under the name of a model', { statistics: { usage_per_model: [toItem('m')] } }],
    ['with empty statistics', { statistics: { usage_per_model: [] } }],
  ])('is marked for the client and does not count against limits if declared %s', async (_description, statistics) => {
    await using limited = await startWithSaved();
    const { service, upstream } = limited;
    upstream.script(replyWithDeclaredUsage(statistics));
    const { status, json } = await chat(service, greedy);
    expect(status).toBe(200);
    const items = (json as { statistics: { usage_per_model: object[] } }).statistics.usage_per_model;
    expect(items).toEqual([expect.objectContaining({ ...declaredUsage, declared: true })]);
    expect(await readUsed(service, greedy)).toMatchObject({ dayTokenStats: 0, dayRequestStats: 1 });
    expect((await chat(service, greedy)).status).toBe(200);
  });

  it('is not counted if the caller reaches it through an application without code', async () => {
    await using limited = await startWithSaved();
    const { service, upstream } = limited;
    upstream.script(replyWithDeclaredUsage());
    expect((await chat(service, runsGreedy)).status).toBe(200);
    expect(await readUsed(service, runsGreedy)).toMatchObject({ dayTokenStats: 0 });
    expect(await readUsed(service, greedy)).toMatchObject({ dayTokenStats: 0, dayRequestStats: 1 });
  });

  it('is not counted if a configured application relays it with its mark', async () => {
    await using limited = await startWithSaved();
    const { service, upstream } = limited;
    const relay: Reply = async (exchange) => {
      const headers = { 'api-key': String(exchange.received.headers['api-key']), 'content-type': 'application/json' };
      const inner = await sendRequest(service.url, {
        path: getChatPath(encodeURIComponent(greedy)),
        headers,
        body: { messages: hello },
      });
      const { statistics } = inner.json as { statistics: object };
      await jsonReply(plainCompletion('hi', { usage: undefined, statistics }))(exchange);
    };
    upstream.script(relay, replyWithDeclaredUsage());
    expect((await chat(service, 'app')).status).toBe(200);
    expect(await readUsed(service, 'app')).toMatchObject({ dayTokenStats: 0, dayRequestStats: 1 });
  });

  it('is not counted if the client disconnects', async () => {
    await using limited = await startWithSaved();
    const { service, upstream } = limited;
    const disconnect = new AbortController();
    upstream.script((exchange) => {
      exchange.head(200, { 'content-type': 'text/event-stream' });
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x' };
      const choices = [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }];
      exchange.response.write(`data: ${JSON.stringify({ ...chunk, choices, usage: declaredUsage })}\n\n`);
    });
    const headers = withKey();
    const body = JSON.stringify({ messages: hello, stream: true });
    const path = `${service.url}${getChatPath(encodeURIComponent(greedy))}`;
    const reply = await fetch(path, { method: 'POST', headers, body, signal: disconnect.signal });
    await reply.body?.getReader().read();
    disconnect.abort();
    await expect.poll(() => readUsed(service, greedy)).toMatchObject({ dayTokenStats: 0, dayRequestStats: 1 });
  });

  it('does not replace the usage of inner calls', async () => {
    await using limited = await startWithSaved();
    const { service, upstream } = limited;
    const callModel: Reply = async (exchange) => {
      const headers = { 'api-key': String(exchange.received.headers['api-key']), 'content-type': 'application/json' };
      await sendRequest(service.url, { path: getChatPath('m'), headers, body: { messages: hello } });
      await replyWithDeclaredUsage({ statistics: { usage_per_model: [toItem('m')] } })(exchange);
    };
    upstream.script(callModel, replyWithUsage(7, 5));
    expect((await chat(service, greedy)).status).toBe(200);
    expect(await readUsed(service, greedy)).toMatchObject({ dayTokenStats: 12 });
    expect(await readUsed(service, 'm')).toMatchObject({ dayTokenStats: 12, dayRequestStats: 1 });
  });
});

describe('usage that a configured application reports', () => {
  it('counts against limits', async () => {
    await using limited = await startLimited(roles);
    const { service, upstream } = limited;
    upstream.script(replyWithUsage(40, 2));
    await chat(service, 'app');
    expect(await readUsed(service, 'app')).toMatchObject({ dayTokenStats: 42 });
  });

  it('counts at most the maximum of one call if its parts add up to more', async () => {
    await using limited = await startLimited({ default: { limits: { '*': { day: 9_000 * million } } } });
    const { service, upstream } = limited;
    const part = { ...toItem('big'), prompt_tokens: 900 * million, completion_tokens: 0, total_tokens: 900 * million };
    upstream.script(jsonReply(plainCompletion('hi', { usage: undefined, statistics: { usage_per_model: [part, part] } })));
    await chat(service, 'app');
    expect(await readUsed(service, 'app')).toMatchObject({ dayTokenStats: 1_000 * million });
  });
});
