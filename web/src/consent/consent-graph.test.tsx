import { expect, it } from 'vitest';
import { buildGraph } from './consent-graph.tsx';

const form = new Map([
  ['root', false],
  ['a', true],
  ['b', false],
  ['c', false],
]);
const layOutGraph = (dependencies: Record<string, string[]>) => {
  const graph = buildGraph('root', form, (id) => dependencies[id] ?? []);
  return {
    columns: Object.fromEntries(graph.nodes.map(({ id, column }) => [id, column])),
    edges: graph.edges.map(([from, to]) => `${from.id}>${to.id}`),
    rows: graph.rows,
  };
};

it('places a deployment after the deployments that use it', () => {
  expect(layOutGraph({ root: ['a', 'b'], b: ['c'] })).toEqual({
    columns: { root: 0, a: 1, b: 1, c: 2 },
    edges: ['root>a', 'root>b', 'b>c'],
    rows: 2,
  });
});

it('places a deployment after the longest path to it', () => {
  expect(layOutGraph({ root: ['c', 'a', 'b'], a: ['b'], b: ['c'] })).toEqual({
    columns: { root: 0, a: 1, b: 2, c: 3 },
    edges: ['root>c', 'root>a', 'root>b', 'a>b', 'b>c'],
    rows: 1,
  });
});

it('ends cycles, omits deployments outside the form, and places unreachable ones next to the root', () => {
  expect(layOutGraph({ root: ['a', 'gone', 'a'], a: ['root', 'a'] })).toEqual({
    columns: { root: 0, a: 1, b: 1, c: 1 },
    edges: ['root>a', 'a>root', 'root>b', 'root>c'],
    rows: 3,
  });
});
