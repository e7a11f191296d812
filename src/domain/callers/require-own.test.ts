import { expect, it } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import { HeldRights } from './held-rights.ts';
import { requireOwn } from './require-own.ts';

const own = { subject: 'ada', project: 'p', roles: ['default'], chain: null };

it('requireOwn() accepts a caller with its own key or token', () => {
  expect(() => requireOwn(own, 'give consent')).not.toThrow();
});

it('requireOwn() rejects a per-request key regardless of its roles', () => {
  const perRequestCaller = {
    ...own,
    roles: ['admin'],
    chain: { path: ['app'], rights: new HeldRights(), report: () => undefined },
  };
  expect(() => requireOwn(perRequestCaller, 'give consent')).toThrow(
    new ParleyError('access_denied', 'A per-request key cannot give consent. Send your own key or token.'),
  );
});
