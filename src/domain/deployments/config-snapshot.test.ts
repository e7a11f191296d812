import { describe, expect, it } from 'vitest';
import { checkConfiguration } from '#configuration/check.ts';
import { createConfigSnapshot } from './config-snapshot.ts';

function getUpstreamIds(...upstreams: readonly object[]): readonly string[] {
  const checked = checkConfiguration({ models: { m: { upstreams } }, keys: { 'a-key': { project: 'p' } } });
  if ('errors' in checked) throw new Error('the configuration has errors');
  return (
    createConfigSnapshot(checked.configuration)
      .deployments.get('m')
      ?.upstreams.map(({ id }) => id) ?? []
  );
}

const endpoint = 'https://api.example/v1';

describe('upstream IDs', () => {
  it('stay the same if only the key changes', () => {
    expect(getUpstreamIds({ endpoint, key: 'one' })).toEqual(getUpstreamIds({ endpoint, key: 'two' }));
    expect(getUpstreamIds({ endpoint, key: 'one' })).toEqual(getUpstreamIds({ endpoint }));
  });

  it('differ between upstreams that differ only in their keys', () => {
    const [first, second] = getUpstreamIds({ endpoint, key: 'one' }, { endpoint, key: 'two' });
    expect(second).toBe(`${first}.2`);
    expect(getUpstreamIds({ endpoint, key: 'one' }, { endpoint, key: 'three' })).toEqual([first, second]);
  });

  it('change with the address', () => {
    expect(getUpstreamIds({ endpoint })).not.toEqual(getUpstreamIds({ endpoint: 'https://other.example/v1' }));
  });
});
