import { expect, it } from 'vitest';
import type { RequestedClaim } from '#domain/limits/limit-store.ts';
import { MemoryLimitStore } from './limit-store.ts';

const toClaim = (holder: string): RequestedClaim => ({ kind: 'calls', holder, amount: 1, exemptAmount: 0 });

it('retains the claims of a call in progress while thousands of other calls begin and end', () => {
  const store = new MemoryLimitStore();
  store.reserve([], [toClaim('first')]);
  for (let nth = 0; nth < 5_000; nth += 1) {
    const claims = [toClaim(`${nth}`)];
    store.reserve([], claims);
    store.settle([], { claims, lease: '' });
  }
  expect(store.reserve([], [toClaim('first'), toClaim('4999')]).reserved).toEqual([1, 0]);
});
