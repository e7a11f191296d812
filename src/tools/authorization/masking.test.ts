import { describe, expect, it } from 'vitest';
import { noCredentials } from './authorizer.ts';
import { listCredentialSecrets, maskSecrets } from './masking.ts';

describe('a text of a server', () => {
  it('has each secret taken out wherever it stands, as it is and percent-encoded', () => {
    expect(maskSecrets('a k3y/+x b k3y%2F%2Bx c k3y/+x', ['k3y/+x'])).toBe('a *** b *** c ***');
  });

  it('is left as it is where a secret is too short to be told from ordinary words', () => {
    expect(maskSecrets('abc', ['abc', ''])).toBe('abc');
  });
});

it('secrets of credentials are their values in all places, without the name of the scheme', () => {
  const headers = { authorization: 'Bearer one', 'x-key': 'two' };
  expect(listCredentialSecrets({ headers, query: { key: 'three' }, body: { key: 'four' } })).toEqual([
    'one',
    'two',
    'three',
    'four',
  ]);
  expect(listCredentialSecrets({ ...noCredentials, headers: { authorization: 'Basic dTpw' } })).toEqual(['dTpw']);
});
