import { describe, expect, it } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { ThoughtSeal } from './sealed-thoughts.ts';

const [removed, current] = [new Secret('a secret that was removed'), new Secret('the current secret')];
const deployment = { id: 'm', kind: 'model', upstreams: [{ protocol: 'anthropic' }] } as unknown as Deployment;
const open = (secrets: readonly Secret[], subject = 'ada') => new ThoughtSeal(new Seal(secrets), subject, deployment);

describe('ThoughtSeal after a rotation of the secret', () => {
  const reasoning = { type: 'reasoning', encrypted_content: open([removed]).close({ reasoning_content: 'Hm.' }) };
  const compaction = { type: 'compaction', encrypted_content: open([removed]).close({ summary: 'Oslo.' }) };

  it('opens content while the older secret is configured', () => {
    expect(open([current, removed]).open(reasoning, 'input[0]')).toEqual({ reasoning_content: 'Hm.' });
    expect(open([current, removed]).open(compaction, 'input[0]')).toEqual({ summary: 'Oslo.' });
  });

  it('returns undefined after the older secret was removed, unless the content replaces a complete conversation', () => {
    expect(open([current]).open(reasoning, 'input[0]')).toBeUndefined();
    expect(() => open([current]).open(compaction, 'input[0]')).toThrow(
      'input[0].encrypted_content was encrypted with a secret that was removed. Remove the item.',
    );
  });

  it('rejects content that was changed or belongs to another user', () => {
    const message = 'input[0].encrypted_content was modified or belongs to another user. Remove the item.';
    const changed = { ...reasoning, encrypted_content: `${reasoning.encrypted_content}A` };
    expect(() => open([removed]).open(changed, 'input[0]')).toThrow(message);
    expect(() => open([removed], 'bob').open(reasoning, 'input[0]')).toThrow(message);
    expect(() => open([current]).open({ ...reasoning, encrypted_content: 'text' }, 'input[0]')).toThrow(message);
  });
});
