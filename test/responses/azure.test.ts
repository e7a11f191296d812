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

/** Creates an Azure client with or without a deployment in its base URL. */
function createAzureClient(deployment?: string): AzureOpenAI {
  const { url } = mocked.service;
  const address = deployment === undefined ? { endpoint: url } : { baseURL: `${url}/openai/deployments/${deployment}` };
  return new AzureOpenAI({ apiKey: callerKey, apiVersion: '2025-03-01-preview', maxRetries: 0, ...address });
}

describe.each([
  ['the path', 'gpt', 'ignored'],
  ['the body', undefined, 'gpt'],
])('AzureOpenAI.responses with the deployment in %s', (_where, deployment, model) => {
  it('creates a response', async () => {
    const response = await createAzureClient(deployment).responses.create({ model, input: 'Hello', store: false });
    expect([response.output_text, response.model, response.status]).toEqual([hello, 'gpt', 'completed']);
  });

  it('streams a response', async () => {
    const stream = createAzureClient(deployment).responses.stream({ model, input: 'Hello', store: false });
    const response = await stream.finalResponse();
    expect([response.output_text, response.model]).toEqual([hello, 'gpt']);
  });
});

describe('AzureOpenAI.responses', () => {
  it('counts the tokens of a request', async () => {
    const { input_tokens } = await createAzureClient().responses.inputTokens.count({ model: 'gpt', input: 'Hello' });
    expect(input_tokens).toBeGreaterThan(0);
  });

  it('reports an unknown deployment like Azure', async () => {
    const request = createAzureClient('none').responses.create({ model: 'gpt', input: 'Hello' });
    await expect(request).rejects.toMatchObject({ status: 404, code: 'DeploymentNotFound' });
  });

  it('retrieves and deletes a stored response', async () => {
    const client = createAzureClient();
    const { id } = await client.responses.create({ model: 'gpt', input: 'Hello' });
    expect((await client.responses.retrieve(id)).output_text).toBe(hello);
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('/compat/deployments/{id}/responses', () => {
  it('requires a version like other calls on these paths', async () => {
    const body = { input: 'Hello', store: false };
    const path = '/compat/deployments/gpt/responses';
    const without = await mocked.service.sendRequest({ path, headers: withKey(), body });
    const withVersion = await mocked.service.sendRequest({ path: `${path}/2024-10-21`, headers: withKey(), body });
    expect([without.status, without.error.code, withVersion.status]).toEqual([400, 'invalid_api_version', 200]);
  });
});
