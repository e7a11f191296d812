import { expect, it } from 'vitest';
import type { NodeState, Upstream } from './read-operations.ts';
import { lookOf, ordered, troublesOf } from './trouble-of.ts';

const upstream = (id: string, fields: Partial<Upstream> = {}): Upstream => ({
  ...{ id, deployment: id, protocol: 'openai', origin: '', model: id, tier: 0, weight: 1 },
  ...{ state: 'ok', failuresInARow: 0, refusedStatus: undefined, offUntilMs: undefined },
  ...fields,
});
const node = (fields: Partial<NodeState> = {}): NodeState => ({
  ...{ version: '', runtime: '', startedAtMs: 0, nowMs: 0, reasons: [], hindrances: [], stores: [], upstreams: [] },
  ...{ files: [], loadedAtMs: 0, refusedAtMs: undefined, faults: [], warnings: [] },
  ...fields,
});

it('an upstream is good only if nothing was wrong with it last', () => {
  const looks = [{}, { refusedStatus: 401 }, { refusedStatus: 429 }, { failuresInARow: 1 }, { state: 'failing' } as const];
  expect(looks.map((fields) => lookOf(upstream('a', fields)))).toEqual(['good', 'bad', 'doubtful', 'doubtful', 'doubtful']);
});

it('a node is well only if nothing at all is wrong', () => {
  const reason = { code: 'c', message: 'm' };
  expect(troublesOf(node({ upstreams: [upstream('a')] })).look).toBe('good');
  expect(troublesOf(node({ upstreams: [upstream('a', { refusedStatus: 401 })] }))).toMatchObject({
    look: 'doubtful',
    upstreams: 1,
  });
  expect(troublesOf(node({ refusedAtMs: 1 })).look).toBe('doubtful');
  expect(troublesOf(node({ stores: [{ holds: 'files', kind: 's3', isAway: true }] })).look).toBe('doubtful');
  expect(troublesOf(node({ reasons: [reason], hindrances: [reason] })).look).toBe('bad');
});

it('trouble stands first, but what was shown keeps its place', () => {
  const all = [upstream('a'), upstream('b', { failuresInARow: 1 }), upstream('c', { refusedStatus: 403 }), upstream('d')];
  const ids = (before: readonly string[]) =>
    ordered(all, before)
      .map(({ id }) => id)
      .join('');
  expect([ids([]), ids(['d', 'a', 'b', 'c']), ids(['d', 'a'])]).toEqual(['cbad', 'dabc', 'dacb']);
});
