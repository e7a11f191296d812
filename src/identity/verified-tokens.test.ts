import { describe, expect, it } from 'vitest';
import { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import { VerifiedTokens, verifiedTokenBounds } from './token-verifier.ts';

const ada = { subject: 'ada', project: 'p', roles: ['default'], chain: null };

function openTokens(bounds = verifiedTokenBounds) {
  const time = { nowMs: 1_000 };
  const clock: Clock = { nowMs: () => time.nowMs, epochMs: () => 0, sleep: () => Promise.resolve() };
  return { tokens: new VerifiedTokens(new BoundedCache(bounds), clock), time };
}

describe('VerifiedTokens', () => {
  it.each([
    ['1.5 s', 1_500],
    ['a minute', 60_000],
  ])('finds a token for %s', (_how, knownMs) => {
    const { tokens, time } = openTokens();
    tokens.store('digest', ada, knownMs);
    time.nowMs += knownMs - 1;
    expect(tokens.find('digest')).toBe(ada);
    time.nowMs += 1;
    expect(tokens.find('digest')).toBeUndefined();
  });

  it('does not store an expired token', () => {
    const { tokens } = openTokens();
    tokens.store('digest', ada, 0);
    tokens.store('digest', ada, -20_000);
    expect(tokens.find('digest')).toBeUndefined();
  });

  it('finds a token only by the complete digest', () => {
    const { tokens } = openTokens();
    tokens.store('digest', ada, 1_000);
    for (const other of ['diges', 'digest2', 'Digest', '', '__proto__']) expect(tokens.find(other)).toBeUndefined();
  });

  it('evicts the least recently used token if the cache is full', () => {
    const { tokens } = openTokens({ maxBytes: 5_500, countBytes: () => 400 });
    for (let index = 0; index < 10; index += 1) tokens.store(`digest ${index}`, ada, 1_000);
    expect(tokens.find('digest 0')).toBe(ada);
    tokens.store('one more', ada, 1_000);
    expect(tokens.find('digest 0')).toBe(ada);
    expect(tokens.find('digest 1')).toBeUndefined();
  });
});
