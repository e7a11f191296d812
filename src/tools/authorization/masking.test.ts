import { describe, expect, it } from 'vitest';
import { noCredentials } from './authorizer.ts';
import { listCredentialSecrets, maskSecrets } from './masking.ts';

describe('maskSecrets', () => {
  it('replaces all occurrences of each secret, plain and percent-encoded', () => {
    expect(maskSecrets('a k3y/+x b k3y%2F%2Bx c k3y/+x', ['k3y/+x'])).toBe('a *** b *** c ***');
  });

  it('replaces a secret that contains another one completely', () => {
    expect(maskSecrets('a k3y-long b k3y-', ['k3y-', 'k3y-long'])).toBe('a *** b ***');
  });

  it('accepts a secret with a lone surrogate', () => {
    expect(maskSecrets('a abcd\ud800 b abcd%EF%BF%BD', ['abcd\ud800'])).toBe('a *** b ***');
  });

  it('ignores secrets that are too short to distinguish from ordinary words', () => {
    expect(maskSecrets('abc', ['abc', ''])).toBe('abc');
  });
});

it('listCredentialSecrets returns the values of all fields, without the name of the scheme', () => {
  const headers = { authorization: 'Bearer one', 'x-key': 'two' };
  expect(listCredentialSecrets({ headers, query: { key: 'three' }, body: { key: 'four' } })).toEqual([
    'one',
    'two',
    'three',
    'four',
  ]);
  expect(listCredentialSecrets({ ...noCredentials, headers: { authorization: 'Basic dTpw' } })).toEqual(['dTpw']);
});
