import { AzureOpenAI } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MockedService } from '#test/mocked-service.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { hello, startResponsesService } from './support.ts';

let stored: ResponseDatabase;
let mocked: MockedService;

beforeAll(async () => {
  stored = await openResponses('SQLite');
  mocked = await startResponsesService({ responses: { ...stored.stores(), isShared: false } });
});

afterEach(() => mocked.service.forgetFailures());

afterAll(async () => {
  await mocked[Symbol.asyncDispose]();
  await stored[Symbol.asyncDispose]();
});

/** The stock client as Azure's users set it up, with or without a deployment in its address. */
function clientOf(deployment?: string): AzureOpenAI {
  const { url } = mocked.service;
  const address = deployment === undefined ? { endpoint: url } : { baseURL: `${url}/openai/deployments/${deployment}` };
  return new AzureOpenAI({ apiKey: callerKey, apiVersion: '2025-03-01-preview', maxRetries: 0, ...address });
}

describe.each([
  ['the path', 'gpt', 'ignored'],
  ['the body', undefined, 'gpt'],
])('AzureOpenAI.responses, with the deployment in %s', (_where, deployment, model) => {
  it('creates a response', async () => {
    const response = await clientOf(deployment).responses.create({ model, input: 'Hello', store: false });
    expect([response.output_text, response.model, response.status]).toEqual([hello, 'gpt', 'completed']);
  });

  it('streams a response', async () => {
    const stream = clientOf(deployment).responses.stream({ model, input: 'Hello', store: false });
    const response = await stream.finalResponse();
    expect([response.output_text, response.model]).toEqual([hello, 'gpt']);
  });
});

describe('AzureOpenAI.responses', () => {
  it('counts the tokens of a request', async () => {
    const { input_tokens } = await clientOf().responses.inputTokens.count({ model: 'gpt', input: 'Hello' });
    expect(input_tokens).toBeGreaterThan(0);
  });

  it('reports a deployment that does not exist as Azure does', async () => {
    const asking = clientOf('none').responses.create({ model: 'gpt', input: 'Hello' });
    await expect(asking).rejects.toMatchObject({ status: 404, code: 'DeploymentNotFound' });
  });

  it('retrieves and deletes a stored response', async () => {
    const client = clientOf();
    const { id } = await client.responses.create({ model: 'gpt', input: 'Hello' });
    expect((await client.responses.retrieve(id)).output_text).toBe(hello);
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('/compat/deployments/{id}/responses', () => {
  it('needs a version, as other calls there do', async () => {
    const body = { input: 'Hello', store: false };
    const path = '/compat/deployments/gpt/responses';
    const without = await mocked.service.sendRequest({ path, headers: withKey(), body });
    const having = await mocked.service.sendRequest({ path: `${path}/2024-10-21`, headers: withKey(), body });
    expect([without.status, without.error.code, having.status]).toEqual([400, 'invalid_api_version', 200]);
  });
});
