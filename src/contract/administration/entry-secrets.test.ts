import { describe, expect, it } from 'vitest';
import { maskEntrySecrets, restoreEntrySecrets } from './entry-secrets.ts';

describe('restoreEntrySecrets with an identity provider', () => {
  const introspection = { url: 'https://id.example/introspect', clientId: 'parley', clientSecret: 'stored secret' };
  const stored = { issuer: 'https://id.example/', introspection };

  it('restores a masked client secret', () => {
    const masked = maskEntrySecrets('identity-providers', stored);
    expect(masked).toMatchObject({ introspection: { clientSecret: '***' } });
    expect(restoreEntrySecrets('identity-providers', masked, stored)).toEqual({ entry: stored, errors: [] });
  });

  it('restores an omitted client secret', () => {
    const { clientSecret: _clientSecret, ...fields } = introspection;
    expect(restoreEntrySecrets('identity-providers', { ...stored, introspection: fields }, stored).entry).toEqual(stored);
  });

  it('requires the client secret again for another introspection endpoint', () => {
    const moved = { ...introspection, url: 'https://other.example/introspect', clientSecret: '***' };
    const { entry, errors } = restoreEntrySecrets('identity-providers', { ...stored, introspection: moved }, stored);
    expect(JSON.stringify(entry)).not.toContain('stored secret');
    expect(errors).toEqual([
      {
        path: ['introspection', 'clientSecret'],
        message: 'must be entered again: the stored secret is for another address',
      },
    ]);
  });
});
