import { describe, expect, it } from 'vitest';
import { checkConfiguration } from './check.ts';
import { LiveConfig } from './live-config.ts';

function listSecrets(value: object): string[] {
  const checked = checkConfiguration(value);
  if ('errors' in checked) throw new Error('the configuration has errors');
  return new LiveConfig(checked.configuration).listSecrets().map((secret) => secret.reveal());
}

describe('LiveConfig.secrets', () => {
  it('contains the client secret of an introspection endpoint', () => {
    const introspection = { url: 'https://id.example/introspect', clientId: 'parley', clientSecret: 'introspection-secret' };
    const identityProviders = { corporate: { issuer: 'https://id.example', introspection } };
    expect(listSecrets({ identityProviders })).toEqual(['introspection-secret']);
  });

  it('contains keys, header fields, extra data, and query values, but no digests', () => {
    const upstream = {
      protocol: 'bedrock',
      key: 'access-key:secret-part',
      headers: { authorization: 'Bearer header-token' },
      extraData: { inner: ['extra-secret'] },
      endpoint: 'https://api.example/v1?code=query-secret',
    };
    const keys = {
      'name-is-secret': { project: 'p' },
      named: { project: 'p', key: 'secret-of-named' },
      digest: { project: 'p', sha256: 'a'.repeat(64) },
    };
    const alerts = [{ of: 'project:p', window: 'cost.day', url: 'https://hook.example/?sig=hook-query', secret: 'hook-secret' }];
    expect(new Set(listSecrets({ models: { m: { upstreams: [upstream] } }, keys, alerts }))).toEqual(
      new Set([
        ...['access-key:secret-part', 'secret-part', 'Bearer header-token', 'header-token', 'extra-secret', 'query-secret'],
        ...['name-is-secret', 'secret-of-named', 'hook-query', 'hook-secret'],
      ]),
    );
  });

  it('contains only the secret fields of the authorization of an addon', () => {
    const authorization = { type: 'api_key', key: 'addon-secret', name: 'Authorization', location: 'header' };
    expect(listSecrets({ addons: { a: { url: 'https://api.example/openapi.json', authorization } } })).toEqual(['addon-secret']);
  });
});
