import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';

let service: TestService;

beforeAll(async () => {
  const endpoint = 'http://127.0.0.1:9/v1';
  service = await startService({
    models: {
      'claude-main': {
        displayName: 'Claude for all',
        upstreams: [{ protocol: 'anthropic', endpoint, key: 'k' }],
        limits: { maxPromptTokens: 200_000, maxCompletionTokens: 64_000 },
        features: { reasoningSupported: true },
      },
      local: { upstreams: [{ endpoint }], limits: { maxTotalTokens: 32_000 }, inputAttachmentTypes: ['image/*'] },
      plain: { upstreams: [{ endpoint }] },
    },
  });
});

afterAll(() => service.close());

describe('/v1/models', () => {
  it('returns names, limits, and capabilities under the names that clients read', async () => {
    const { json } = await service.sendRequest({ method: 'GET', path: '/v1/models', headers: withKey() });
    expect((json as { data: object[] }).data).toMatchObject([
      {
        ...{ id: 'claude-main', type: 'model', display_name: 'Claude for all', context_length: 200_000, context_window: 200_000 },
        ...{ max_model_len: 200_000, max_input_tokens: 200_000, max_output_tokens: 64_000 },
        architecture: { input_modalities: ['text', 'image', 'file'], output_modalities: ['text'] },
        supported_parameters: expect.arrayContaining(['tools', 'reasoning_effort']),
      },
      { id: 'local', display_name: 'local', context_length: 32_000, architecture: { input_modalities: ['text', 'image'] } },
      { id: 'plain', display_name: 'plain', architecture: { input_modalities: ['text'] } },
    ]);
    expect((json as { data: object[] }).data[2]).not.toHaveProperty('context_length');
  });
});

describe('/anthropic/v1/models', () => {
  it('returns capabilities in the format of the Anthropic SDK', async () => {
    const client = new Anthropic({ apiKey: callerKey, baseURL: `${service.url}/anthropic`, maxRetries: 0 });
    const { data } = await client.models.list({ limit: 1000 });
    expect(data).toMatchObject([
      {
        ...{ id: 'claude-main', display_name: 'Claude for all', max_input_tokens: 200_000, max_tokens: 64_000 },
        capabilities: { image_input: { supported: true }, thinking: { supported: true }, effort: { low: { supported: true } } },
      },
      {
        id: 'local',
        max_input_tokens: 32_000,
        capabilities: { image_input: { supported: true }, pdf_input: { supported: false } },
      },
      { id: 'plain', max_input_tokens: null, capabilities: { thinking: { supported: false } } },
    ]);
  });
});
