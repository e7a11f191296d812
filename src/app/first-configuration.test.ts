import { describe, expect, it } from 'vitest';
import { Secret } from '#base/secrets/secret.ts';
import type { ModelSources } from '#configuration/find-models.ts';
import { createDefaultConfiguration } from './first-configuration.ts';
import type { SampleAddress } from './sample/sample.ts';

function check(surroundings: Partial<ModelSources>, sample?: SampleAddress) {
  const checked = createDefaultConfiguration(
    { environment: {}, ollamaTags: undefined, ...surroundings },
    { key: 'local-key-1', sample },
  );
  if ('errors' in checked) throw new Error(JSON.stringify(checked.errors));
  return checked;
}

describe('createDefaultConfiguration', () => {
  it('returns a demo model, demo embeddings, and one local key', () => {
    const { configuration, warnings } = check({});
    expect(warnings).toEqual([]);
    expect(Object.keys(configuration.models)).toEqual(['demo', 'demo-embeddings']);
    expect(configuration.models.demo).toMatchObject({ displayName: 'Demo', type: 'chat', upstreams: [{ protocol: 'demo' }] });
    expect(configuration.models['demo-embeddings']).toMatchObject({ type: 'embedding', upstreams: [{ protocol: 'demo' }] });
    expect(configuration.keys).toEqual({ local: { project: 'local', key: 'local-key-1', roles: ['default', 'admin'] } });
  });

  it('includes the sample app if the address of its tools is known', () => {
    const origin = 'http://127.83.77.1:1234';
    const { configuration, warnings } = check({}, { origin, secret: new Secret('sample-secret') });
    expect(warnings).toEqual([]);
    expect(Object.keys(configuration.applications)).toEqual(['sample', 'sample-account', 'sample-with-consent']);
    expect(configuration.applications.sample).toMatchObject({ applicationProperties: { model: 'demo' } });
    expect(check({}).configuration.applications).toEqual({});
  });

  it('lets tools reach this machine and no other private address', () => {
    expect(check({}).configuration.security.allowPrivateNetworks).toEqual(['127.0.0.0/8', '::1']);
  });

  it('includes OpenAI models only if their key is set', () => {
    const { models } = check({ environment: { OPENAI_API_KEY: ' sk-1\n' } }).configuration;
    expect(models['gpt-4.1-mini']).toMatchObject({
      type: 'chat',
      upstreams: [{ endpoint: 'https://api.openai.com/v1', key: 'sk-1', model: 'gpt-4.1-mini' }],
    });
    expect(models['text-embedding-3-small']?.type).toBe('embedding');
    for (const key of ['', ' ', undefined]) {
      expect(Object.keys(check({ environment: { OPENAI_API_KEY: key } }).configuration.models)).toEqual([
        'demo',
        'demo-embeddings',
      ]);
    }
  });

  it('uses the URL in OPENAI_BASE_URL for OpenAI if it is set', () => {
    const environment = { OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: 'https://eu.example/v1' };
    expect(check({ environment }).configuration.models['gpt-4.1-mini']?.upstreams[0]?.endpoint).toBe('https://eu.example/v1');
  });

  it('includes the models of a local Ollama', () => {
    const ollamaTags = {
      models: [
        { name: 'llama3.2:3b', details: { family: 'llama' } },
        { name: 'nomic-embed-text:latest', details: { family: 'nomic-bert' } },
        { name: 'hf.co/org/model:Q4' },
      ],
    };
    const { models } = check({ ollamaTags }).configuration;
    expect(models['ollama/llama3.2:3b']).toMatchObject({
      type: 'chat',
      displayName: 'llama3.2:3b',
      upstreams: [{ endpoint: 'http://127.0.0.1:11434/v1', model: 'llama3.2:3b' }],
    });
    expect(models['ollama/nomic-embed-text:latest']?.type).toBe('embedding');
    expect(models['ollama/hf.co/org/model:Q4']?.type).toBe('chat');
  });

  it.each([
    null,
    3,
    'x',
    [],
    {},
    { models: 3 },
    { models: [null, 3, {}, { name: 4 }, { name: '../x' }, { name: 'a\0' }, { name: '' }] },
  ])('ignores the invalid Ollama response %j', (ollamaTags) => {
    expect(Object.keys(check({ ollamaTags }).configuration.models)).toEqual(['demo', 'demo-embeddings']);
  });

  it('does not resolve references in environment values', () => {
    const { models } = check({ environment: { OPENAI_API_KEY: ['$', '{HOME}'].join('') } }).configuration;
    expect(models['gpt-4.1-mini']?.upstreams[0]?.key).toBe(['$', '{HOME}'].join(''));
  });
});
