import { expect, test } from 'vitest';
import type { Caller } from '#domain/callers/caller.ts';
import { InputMemory } from './input-memory.ts';

const user = { subject: 'ada', chain: null };
const application = { subject: 'ada', chain: {} as Caller['chain'] };

test('InputMemory counts calls with a per-request key separately', () => {
  const memory = new InputMemory(100);
  memory.hold(user, 90);
  memory.hold(application, 90);
  expect(() => memory.hold(user, 20)).toThrow('can have 100 bytes');
  expect(() => memory.hold(application, 20)).toThrow('can have 100 bytes');
});

test('InputMemory accepts a single input above the limit', () => {
  const memory = new InputMemory(100);
  memory.hold(user, 1_000);
  expect(() => memory.hold(user, 1)).toThrow('can have 100 bytes');
});

test('InputMemory counts an input until its release', () => {
  const memory = new InputMemory(100);
  memory.hold(user, 60);
  const release = memory.hold(user, 40);
  expect(() => memory.hold(user, 40)).toThrow('can have 100 bytes');
  release();
  memory.hold(user, 40);
});
