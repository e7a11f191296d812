import { describe, expect, it } from 'vitest';
import { checkConfiguration } from '#configuration/check.ts';
import { toSnapshot } from './config-snapshot.ts';

function idsOf(...upstreams: readonly object[]): readonly string[] {
  const checked = checkConfiguration({ models: { m: { upstreams } }, keys: { 'a-key': { project: 'p' } } });
  if ('faults' in checked) throw new Error('the configuration has faults');
  return (
    toSnapshot(checked.configuration)
      .deployments.get('m')
      ?.upstreams.map(({ id }) => id) ?? []
  );
}

const endpoint = 'https://api.example/v1';

describe('upstream IDs', () => {
  it('stay the same if only the key changes', () => {
    expect(idsOf({ endpoint, key: 'one' })).toEqual(idsOf({ endpoint, key: 'two' }));
    expect(idsOf({ endpoint, key: 'one' })).toEqual(idsOf({ endpoint }));
  });

  it('differ between upstreams that differ only in their keys', () => {
    const [first, second] = idsOf({ endpoint, key: 'one' }, { endpoint, key: 'two' });
    expect(second).toBe(`${first}.2`);
    expect(idsOf({ endpoint, key: 'one' }, { endpoint, key: 'three' })).toEqual([first, second]);
  });

  it('change with the address', () => {
    expect(idsOf({ endpoint })).not.toEqual(idsOf({ endpoint: 'https://other.example/v1' }));
  });
});
