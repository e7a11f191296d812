import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tryParseJson } from '#base/json/json.ts';
import { checkConfiguration } from '#configuration/check.ts';
import { LiveConfig } from '#configuration/live-config.ts';
import { quickApp } from '../applications/support.ts';
import { createBounds, createNearMiss } from './fuzz-support.ts';

const upstream = {
  protocol: 'openai',
  endpoint: 'https://a.test/v1',
  key: 'k',
  model: 'm',
  headers: { x: 'y' },
  weight: 2,
  tier: 1,
};
const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1 };
const authorization = { type: 'api_key', key: 'k', name: 'x-key', location: 'header' };

/** A configuration with every section. */
const validConfiguration = {
  models: {
    gpt: {
      displayName: 'GPT',
      upstreams: [{ ...upstream, timeouts }, { protocol: 'demo' }],
      userRoles: ['staff'],
      features: { consentRequired: true },
      defaults: { temperature: 1 },
      inputAttachmentTypes: ['image/*'],
      limits: { maxTotalTokens: 10 },
      pricing: { prompt: 0.1, completion: 0.2 },
      maxRetryAttempts: 2,
    },
    azure: {
      upstreams: [{ protocol: 'azure', endpoint: 'https://a.test/openai/deployments/m', apiVersion: '2024-10-21', key: 'k' }],
    },
    vectors: { type: 'embedding', upstreams: [{ protocol: 'demo' }] },
  },
  applications: {
    app: { endpoint: 'https://a.test/app', dependencies: ['gpt'], features: { consentRequired: true } },
    quick: quickApp({ model: 'gpt', starters: ['Hi'], context: { strategy: 'off' }, applications_as_tools: ['app'] }),
  },
  addons: { shop: { url: 'https://a.test/openapi.json', displayName: 'Shop', description: 'It', authorization } },
  keys: { secret: { project: 'p', role: 'staff' }, named: { project: 'q', roles: ['a', 'b'], key: 'other' } },
  roles: {
    default: { limits: { '*': { minute: 1, day: 2 } }, costLimit: { day: 0.5 } },
    staff: { limits: { gpt: { requestDay: 0 } } },
  },
  identityProviders: { sso: { issuer: 'https://a.test', jwksUrl: 'https://a.test/keys', audience: 'x', rolesClaim: 'a.b' } },
  addin: { enabled: true, prefix: '/addin', models: [{ id: 'gpt', display_name: 'GPT' }], allowedOrigins: ['https://a.test'] },
  security: { allowPrivateNetworks: ['10.0.0.0/8', 'host'], trustedProxies: ['127.0.0.1'], maxBodyBytes: 1_000 },
  aliases: { compat: ['openai'], msgapi: ['anthropic'] },
  consent: { directCalls: 'require' },
  retrieval: { embeddingModel: 'vectors' },
  tools: { connectMs: 1, timeoutMs: 2, maxResultBytes: 3, maxTurns: 4 },
  context: { strategy: 'clear', reserveTokens: 5 },
  limits: { onStoreFailure: 'allow' },
};

it('an almost valid configuration is rejected with reasons or can be applied', () => {
  const first = checkConfiguration(validConfiguration);
  if ('errors' in first) throw new Error(JSON.stringify(first.errors));
  let accepted = 0;
  fc.assert(
    fc.property(createNearMiss(validConfiguration), (value) => {
      const checked = checkConfiguration(tryParseJson(JSON.stringify(value) ?? ''));
      if ('errors' in checked) return void expect(checked.errors.length).toBeGreaterThan(0);
      accepted += 1;
      const snapshot = new LiveConfig(checked.configuration);
      expect(snapshot.listSecrets().length).toBeGreaterThanOrEqual(0);
    }),
    createBounds(1_500),
  );
  expect(accepted).toBeGreaterThan(0);
  expect(Object.keys(Object.prototype)).toEqual([]);
});
