import { describe, expect, it } from 'vitest';
import { Configuration } from './configuration.ts';
import { complete } from './schema-node.ts';

describe('complete', () => {
  it('completes an empty value with all defaults', () => {
    expect(complete(Configuration, {})).toEqual({
      models: {},
      applications: {},
      addons: {},
      prompts: {},
      keys: {},
      roles: {},
      projects: {},
      users: {},
      limitResets: {},
      alerts: [],
      identityProviders: {},
      scim: { userAttribute: 'userName', groups: {} },
      addin: { enabled: false, prefix: '/addin', models: [] },
      security: {
        allowPrivateNetworks: [],
        trustedProxies: [],
        allowedOrigins: [],
        addonUrls: 'guarded',
        maxBodyBytes: 67108864,
      },
      aliases: { compat: ['openai'], msgapi: ['anthropic'] },
      consent: { directCalls: 'allow' },
      retrieval: { passages: 12, minScore: 0.2 },
      tools: { connectMs: 10000, listMs: 10000, timeoutMs: 300000, maxResultBytes: 40000, maxTurns: 15 },
      context: { strategy: 'summarize' },
      limits: { onStoreFailure: 'refuse' },
      files: { maxFileBytes: 512 * 1024 ** 2, maxBucketBytes: 10 * 1024 ** 3 },
      evaluations: { maxParallel: 4, caseTimeoutMs: 600_000, keep: 20, maxBytesPerUser: 256 * 1024 ** 2 },
      responses: { store: 'allow', retentionDays: 30, maxBytesPerUser: 1024 ** 3, mcpServers: [] },
      records: { content: 'none', maxContentBytes: 65_536, maxSpendSeries: 0 },
      page: { conversations: 'server', sharing: true, offline: true },
    });
  });

  it('adds the defaults to every entry', () => {
    const value = {
      models: { m: { upstreams: [{ timeouts: { idleMs: 5 } }] } },
      applications: { a: { features: { rate: true } } },
      roles: { r: {} },
      identityProviders: { p: {} },
      addons: { x: { authorization: { type: 'api_key' } }, y: { authorization: { type: 'basic' } } },
    };
    expect(complete(Configuration, value)).toMatchObject({
      models: {
        m: {
          type: 'chat',
          features: { consentRequired: false },
          defaults: {},
          dependencies: [],
          maxRetryAttempts: 5,
          upstreams: [
            {
              headers: {},
              weight: 1,
              tier: 0,
              timeouts: { connectMs: 10000, firstByteMs: 300000, idleMs: 5 },
            },
          ],
        },
      },
      applications: { a: { features: { consentRequired: false, rate: true }, dependencies: [], maxRetryAttempts: 1 } },
      roles: { r: { limits: {} } },
      identityProviders: { p: { userIdClaim: 'sub' } },
      addons: { x: { authorization: { type: 'api_key' } }, y: { authorization: { type: 'basic' } } },
    });
  });

  it('keeps existing values, valid or invalid', () => {
    const value = { models: 3, tools: { connectMs: 'x', unknown: [1, { a: null }] }, limits: null, aliases: { compat: [] } };
    expect(complete(Configuration, value)).toMatchObject(value);
    expect(complete(Configuration, 'x')).toBe('x');
  });

  it('treats an undefined member as absent', () => {
    expect(complete(Configuration, { consent: undefined, tools: { maxTurns: undefined } })).toMatchObject({
      consent: { directCalls: 'allow' },
      tools: { maxTurns: 15 },
    });
  });

  it('creates separate defaults for each configuration', () => {
    const [first, second] = [complete(Configuration, {}) as Configuration, complete(Configuration, {}) as Configuration];
    first.aliases.compat.push('x');
    expect(second.aliases.compat).toEqual(['openai']);
  });

  it('creates objects without a prototype, where __proto__ is an ordinary key', () => {
    const completed = complete(
      Configuration,
      JSON.parse('{"models": {"__proto__": {"defaults": {"__proto__": 1}}}}'),
    ) as Configuration;
    expect(Object.keys(completed.models)).toEqual(['__proto__']);
    expect(completed.models.constructor).toBeUndefined();
    expect(Object.getPrototypeOf(completed.models)).toBeNull();
    expect(JSON.stringify(Object.values(completed.models)[0]?.defaults)).toBe('{"__proto__":1}');
  });
});
