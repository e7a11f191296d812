import { describe, expect, it } from 'vitest';
import { checkConfiguration } from '../../src/app/configuration/check.ts';
import { doubts } from '../../src/contract/configuration/doubts.ts';
import { formatPath } from '../../src/contract/configuration/fault.ts';

function doubtsOf(value: object): string[] {
  const checked = checkConfiguration(value);
  if ('faults' in checked) throw new Error('the configuration has faults');
  return [...doubts(checked.configuration)].map(({ path, message }) => `${formatPath(path)}: ${message}`);
}

const demo = { upstreams: [{ protocol: 'demo' }] };

describe('a configuration that is allowed, but hardly meant', () => {
  it('serves nothing to nobody', () => {
    expect(doubtsOf({})).toEqual([
      'models: is empty; nothing is served',
      'keys: is empty, and there are no identityProviders; nobody can call',
    ]);
  });

  it('has a model whose upstreams are never asked', () => {
    const value = { models: { m: { upstreams: [{ protocol: 'demo', weight: 0 }] } }, keys: { 'a-key': { project: 'p' } } };
    expect(doubtsOf(value)).toEqual(['models.m.upstreams: have a weight of 0 each; none of them is ever asked']);
  });

  it('has no doubts where something is served to somebody', () => {
    expect(doubtsOf({ models: { m: demo }, keys: { 'a-key': { project: 'p' } } })).toEqual([]);
  });
});
