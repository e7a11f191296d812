import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { createClient } from './support.ts';

describe('per-request key of an application', () => {
  let stored: ResponseDatabase;
  let model: ScriptedUpstream;
  let application: ScriptedUpstream;
  let service: TestService;

  beforeAll(async () => {
    stored = await openResponses('SQLite');
    model = await startScriptedUpstream(jsonReply(plainCompletion('Hi')));
    application = await startScriptedUpstream();
    service = await startService(
      {
        models: { m: { upstreams: [{ endpoint: model.endpoint }] } },
        applications: { app: { endpoint: `${application.url}/chat` } },
        keys: { [callerKey]: { project: 'p' } },
      },
      { responses: stored.stores() },
    );
  });
  afterAll(async () => {
    await service.close();
    await application.close();
    await model.close();
    await stored[Symbol.asyncDispose]();
  });

  /** Calls the application, which sends one request with its per-request key. Returns the answer that it received. */
  async function sendAsApplication(method: string, path: string, body?: object): Promise<TestResponse> {
    let answer: TestResponse | undefined;
    application.script(async (exchange) => {
      const headers = { 'api-key': String(exchange.received.headers['api-key']), 'content-type': 'application/json' };
      answer = await sendRequest(service.url, { method, path, headers, ...(body && { body }) });
      await jsonReply(plainCompletion('done'))(exchange);
    });
    const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
    await service.sendRequest({ path: '/v1/chat/completions', headers, body: { model: 'app', messages: hello } });
    if (answer === undefined) throw new Error('the application was not called');
    return answer;
  }

  it('cannot read or delete stored responses and conversations of the user', async () => {
    const client = createClient(service);
    const { id: conversation } = await client.conversations.create();
    const { id } = await client.responses.create({ model: 'm', input: 'My diary' });
    const requests = [
      ['GET', `/v1/responses/${id}`],
      ['GET', `/v1/responses/${id}/input_items`],
      ['POST', `/v1/responses/${id}/cancel`],
      ['DELETE', `/v1/responses/${id}`],
      ['GET', `/v1/conversations/${conversation}`],
      ['GET', `/v1/conversations/${conversation}/items`],
      ['DELETE', `/v1/conversations/${conversation}`],
    ] as const;
    for (const [method, path] of requests) {
      const { status, error } = await sendAsApplication(method, path);
      expect([method, path, status, error.code]).toEqual([method, path, 403, 'access_denied']);
    }
    const created = await sendAsApplication('POST', '/v1/conversations', {});
    expect([created.status, created.error.code]).toEqual([403, 'access_denied']);
    expect((await client.responses.retrieve(id)).id).toBe(id);
  });

  it('cannot continue stored responses and conversations, and does not store responses of the user', async () => {
    const client = createClient(service);
    const { id: conversation } = await client.conversations.create();
    const { id } = await client.responses.create({ model: 'm', input: 'My diary' });
    const continued = await sendAsApplication('POST', '/v1/responses', { model: 'm', input: 'Hi', previous_response_id: id });
    expect([continued.status, continued.error.code]).toEqual([400, 'previous_response_not_found']);
    const added = await sendAsApplication('POST', '/v1/responses', { model: 'm', input: 'Hi', conversation });
    expect([added.status, added.error.code]).toEqual([400, 'conversation_not_found']);
    const input = [{ type: 'item_reference', id: 'msg_1' }];
    expect((await sendAsApplication('POST', '/v1/responses', { model: 'm', input })).status).toBe(400);
    const answer = await sendAsApplication('POST', '/v1/responses', { model: 'm', input: 'Hi' });
    const response = answer.json as { id: string; store: boolean };
    expect([answer.status, response.store]).toEqual([200, false]);
    await expect(client.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
  });
});
