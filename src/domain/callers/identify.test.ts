import { describe, expect, it } from 'vitest';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import { HeldRights } from './held-rights.ts';
import { createIdentify, createUnauthorizedError } from './identify.ts';
import { KeyRing } from './key-ring.ts';

const from = { socket: {}, headers: {} };
const ada = { subject: 'ada', project: 'corporate', roles: ['staff'], chain: null };
const perRequestCaller = { ...ada, chain: { path: ['app'], rights: new HeldRights(), report: () => undefined } };

function createTestIdentify() {
  const keys = new KeyRing({ configured: { project: 'team' }, 'a.b.c': { project: 'dotted' } });
  const lookups: string[] = [];
  const refusals: string[] = [];
  const perRequestKeys = {
    issue: () => Promise.resolve(''),
    revoke: () => Promise.resolve(),
    find: async (key: string) => {
      lookups.push(`per-request ${key}`);
      return key === 'lent' ? perRequestCaller : undefined;
    },
  };
  const verifyToken = async (token: string) => {
    lookups.push(`token ${token}`);
    if (token === 'h.good.s') return ada;
    throw token === 'h.down.s'
      ? new Error('down')
      : createUnauthorizedError('invalid_token', 'The token has expired. Get a new one.');
  };
  const identify = createIdentify(
    () => ({ keys, configuration: { identityProviders: {} } }) as unknown as ConfigSnapshot,
    perRequestKeys,
    {
      verifyToken,
      clock: { epochMs: () => 0 },
      onRejection: (why) => refusals.push(why),
    },
  );
  return { identify, lookups, refusals };
}

describe('createIdentify', () => {
  it.each([
    ['a configured key', 'configured', { subject: 'key:team', project: 'team', roles: ['default'], chain: null }, []],
    [
      'a configured key that looks like a token',
      'a.b.c',
      { subject: 'key:dotted', project: 'dotted', roles: ['default'], chain: null },
      [],
    ],
    ['a per-request key', 'lent', perRequestCaller, ['per-request lent']],
    ['a token', 'h.good.s', ada, ['token h.good.s']],
  ])('resolves %s with a lookup of the matching kind only', async (_what, credentials, caller, where) => {
    const { identify, lookups, refusals } = createTestIdentify();
    expect(await identify(credentials, from)).toMatchObject(caller);
    expect(lookups).toEqual(where);
    expect(refusals).toEqual([]);
  });

  it.each([
    ['unknown', 'unknown', 'invalid_api_key'],
    ['of two parts', 'a.b', 'invalid_api_key'],
    ['of three parts with a blank', 'a.b .c', 'invalid_api_key'],
    ['a token that is refused', 'h.bad.s', 'invalid_token'],
    ['a token without a signature', 'h.none.', 'invalid_token'],
    ['an encrypted token', 'a.b.c.d.e', 'invalid_token'],
  ])('rejects credentials that are %s with a challenge, and reports the error code once', async (_what, credentials, code) => {
    const { identify, refusals } = createTestIdentify();
    await expect(identify(credentials, from)).rejects.toMatchObject({
      code,
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    });
    expect(refusals).toEqual([code]);
  });

  it('does not report a rejection if the verification is unavailable', async () => {
    const { identify, refusals } = createTestIdentify();
    await expect(identify('h.down.s', from)).rejects.toThrow('down');
    expect(refusals).toEqual([]);
  });
});

it('createIdentify reports the use of a configured key only for accepted requests with this key itself', async () => {
  const keys = new KeyRing({ desk: { project: 'team', key: 'desk-key' }, shut: { project: 'blocked', key: 'shut-key' } });
  const desk = keys.find('desk-key')?.caller;
  const uses: string[] = [];
  const identify = createIdentify(
    () => ({ keys, configuration: { identityProviders: {} } }) as unknown as ConfigSnapshot,
    {
      issue: () => Promise.resolve(''),
      revoke: () => Promise.resolve(),
      find: () => Promise.resolve({ ...desk, ...ada, chain: perRequestCaller.chain }),
    },
    {
      verifyToken: () => Promise.resolve(ada),
      clock: { epochMs: () => 0 },
      blockedUsers: {
        admit(caller) {
          if (caller.project === 'blocked') throw new Error('blocked');
          return caller;
        },
      },
      onKeyUse: (name) => uses.push(name),
    },
  );
  expect(() => identify('shut-key', from)).toThrow('blocked');
  await identify('lent', from);
  expect(uses).toEqual([]);
  await identify('desk-key', from);
  expect(uses).toEqual(['desk']);
});

it('createUnauthorizedError() sends a challenge without an error if credentials are missing', () => {
  expect(createUnauthorizedError('missing_credentials', 'Send a key.').headers).toEqual({ 'www-authenticate': 'Bearer' });
});
