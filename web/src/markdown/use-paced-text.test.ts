import { expect, it } from 'vitest';
import { Pace } from './use-paced-text.ts';

/** What is added in each of some frames that take so long. */
function added(pace: Pace, frames: number, frameMs: number): readonly number[] {
  return Array.from({ length: frames }, (_, at) => pace.frame(at * frameMs, 3000, false));
}

it('More is added at once while frames are in time, up to what there is', () => {
  expect(added(new Pace(), 9, 16)).toEqual([400, 0, 800, 0, 1600, 0, 3000, 0, 3000]);
});

it('What takes long is followed by less, after a pause as long', () => {
  const pace = new Pace();
  expect(pace.frame(0, 3000, false)).toBe(400);
  pace.frame(16, 3000, false);
  expect(pace.frame(32, 3000, false)).toBe(800);
  pace.frame(132, 3000, false);
  expect(pace.frame(232, 3000, false)).toBe(0);
  expect(pace.frame(431, 3000, false)).toBe(0);
  expect(pace.frame(432, 3000, false)).toBe(400);
});

it('Pieces that are small for want of text do not make the next ones larger', () => {
  const pace = new Pace();
  for (let at = 0; at < 20; at += 1) pace.frame(at * 16, 50, false);
  expect(pace.frame(20 * 16, 3000, false)).toBe(400);
});

it('The more waits, the more is added at once', () => {
  expect(new Pace().frame(0, 16_000, false)).toBe(2000);
  expect(new Pace().frame(0, 1_000_000, false)).toBe(8000);
});

it('A text that is whole comes in large pieces', () => {
  expect(new Pace().frame(0, 1_000_000, true)).toBe(16_000);
  expect(new Pace().frame(0, 70, true)).toBe(70);
});
