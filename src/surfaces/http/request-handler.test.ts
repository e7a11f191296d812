import { expect, test } from 'vitest';
import type { Caller } from '#domain/callers/caller.ts';
import { LargeBodies } from './request-handler.ts';

const user = { subject: 'ada', chain: null };
const application = { subject: 'ada', chain: {} as Caller['chain'] };
const open = new Promise<void>(() => undefined);

test('LargeBodies counts calls with a per-request key separately', () => {
  const bodies = new LargeBodies(100);
  bodies.add(user, 90, open);
  bodies.add(application, 90, open);
  expect(() => bodies.add(user, 20, open)).toThrow('may have 100 bytes together');
  expect(() => bodies.add(application, 20, open)).toThrow('may have 100 bytes together');
});

test('LargeBodies accepts a single body above the limit', () => {
  const bodies = new LargeBodies(100);
  bodies.add(user, 1_000, open);
  expect(() => bodies.add(user, 1, open)).toThrow('may have 100 bytes together');
});

test('LargeBodies counts a body until the response is closed', async () => {
  const bodies = new LargeBodies(100);
  const closed = Promise.resolve();
  bodies.add(user, 60, open);
  bodies.add(user, 40, closed);
  expect(() => bodies.add(user, 40, open)).toThrow('may have 100 bytes together');
  await closed;
  bodies.add(user, 40, open);
});
