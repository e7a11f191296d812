import { expect, it } from 'vitest';
import { buildGraph } from './consent-graph.tsx';

const form = new Map([
  ['root', false],
  ['a', true],
  ['b', false],
  ['c', false],
]);
const layOut = (dependencies: Record<string, string[]>) => {
  const graph = buildGraph('root', form, (id) => dependencies[id] ?? []);
  return {
    at: Object.fromEntries(graph.nodes.map(({ id, column }) => [id, column])),
    edges: graph.edges.map(([from, to]) => `${from.id}>${to.id}`),
    rows: graph.rows,
  };
};

it('places deployments after all that lead to them', () => {
  expect(layOut({ root: ['a', 'b'], b: ['c'] })).toEqual({
    at: { root: 0, a: 1, b: 1, c: 2 },
    edges: ['root>a', 'root>b', 'b>c'],
    rows: 2,
  });
});

it('places a deployment after another one that also leads to it', () => {
  expect(layOut({ root: ['c', 'a', 'b'], a: ['b'], b: ['c'] })).toEqual({
    at: { root: 0, a: 1, b: 2, c: 3 },
    edges: ['root>c', 'root>a', 'root>b', 'a>b', 'b>c'],
    rows: 1,
  });
});

it('ends cycles, omits deployments outside the form, and places unreachable ones next to the root', () => {
  expect(layOut({ root: ['a', 'gone', 'a'], a: ['root', 'a'] })).toEqual({
    at: { root: 0, a: 1, b: 1, c: 1 },
    edges: ['root>a', 'a>root', 'root>b', 'root>c'],
    rows: 3,
  });
});
