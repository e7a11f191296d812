import { describe, expect, it } from 'vitest';
import { createDefaultConfiguration } from '#app/first-configuration.ts';
import { findModels } from './find-models.ts';
import type { Environment } from './substitute.ts';

function findModelsFor(environment: Environment) {
  const checked = createDefaultConfiguration({ environment, ollamaTags: undefined }, { key: 'local-key-1', sample: undefined });
  if ('errors' in checked) throw new Error(JSON.stringify(checked.errors));
  return checked.configuration.models;
}

describe('findModels', () => {
  it('returns the models of Anthropic only if their key is set', () => {
    const models = findModelsFor({ ANTHROPIC_API_KEY: ' sk-ant-1\n' });
    expect(models['claude-haiku-4-5']).toMatchObject({
      type: 'chat',
      limits: { maxCompletionTokens: 32_000 },
      upstreams: [
        { protocol: 'anthropic', endpoint: 'https://api.anthropic.com/v1', key: 'sk-ant-1', model: 'claude-haiku-4-5' },
      ],
    });
    for (const key of ['', ' ', undefined])
      expect(findModels({ environment: { ANTHROPIC_API_KEY: key }, ollamaTags: null })).toEqual({});
  });

  it.each([
    ['https://gate.example', 'https://gate.example/v1'],
    ['https://gate.example/anthropic/', 'https://gate.example/anthropic/v1'],
    ['https://gate.example/v1', 'https://gate.example/v1'],
    ['https://gate.example/v1/', 'https://gate.example/v1'],
    [' ', 'https://api.anthropic.com/v1'],
  ])('converts the base address %j to %s', (base, endpoint) => {
    const models = findModelsFor({ ANTHROPIC_API_KEY: 'sk-ant-1', ANTHROPIC_BASE_URL: base });
    expect(models['claude-haiku-4-5']?.upstreams[0]?.endpoint).toBe(endpoint);
  });

  it('returns the models of OpenAI and Anthropic together', () => {
    expect(Object.keys(findModelsFor({ ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' }))).toEqual(
      expect.arrayContaining(['demo', 'gpt-4.1-mini', 'claude-haiku-4-5']),
    );
  });
});
