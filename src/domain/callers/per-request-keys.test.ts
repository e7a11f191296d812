import { expect, it } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import { HeldRights } from './held-rights.ts';
import { rejectPerRequestKey } from './per-request-keys.ts';

const own = { subject: 'ada', project: 'p', roles: ['default'], chain: null };

it('rejectPerRequestKey() accepts a caller with its own key or token', () => {
  expect(() => rejectPerRequestKey(own, 'give consent')).not.toThrow();
});

it('rejectPerRequestKey() rejects a per-request key regardless of its roles', () => {
  const perRequestCaller = {
    ...own,
    roles: ['admin'],
    chain: { path: ['app'], rights: new HeldRights(), report: () => undefined },
  };
  expect(() => rejectPerRequestKey(perRequestCaller, 'give consent')).toThrow(
    new ParleyError('access_denied', 'A per-request key cannot give consent. Send your own key or token.'),
  );
});
