import { expect, it } from 'vitest';
import { computeTotalMs, toSpan } from './trace-span.ts';

const model = { atMs: 0, durationMs: 400, firstMs: 100 };
const tool = { atMs: 400, durationMs: 600, firstMs: undefined };

it('computes the position of a step within the run and the time until its answer started', () => {
  expect(computeTotalMs([model, tool])).toBe(1000);
  expect(toSpan(model, 1000)).toEqual({ from: 0, length: 40, waiting: 25 });
  expect(toSpan(tool, 1000)).toEqual({ from: 40, length: 60, waiting: 0 });
});

it('clamps impossible times to the run', () => {
  expect(computeTotalMs([])).toBe(0);
  expect(toSpan({ atMs: 0, durationMs: 0, firstMs: 5 }, 0)).toEqual({ from: 0, length: 0, waiting: 0 });
  expect(toSpan({ atMs: 900, durationMs: 5000, firstMs: -1 }, 1000)).toEqual({ from: 90, length: 10, waiting: 0 });
  expect(toSpan({ atMs: -5, durationMs: -5, firstMs: undefined }, 1000)).toEqual({ from: 0, length: 0, waiting: 0 });
});
