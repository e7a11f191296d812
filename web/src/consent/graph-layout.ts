import type { ConsentForm } from '../service/consents.ts';

export interface GraphNode {
  readonly id: string;
  readonly asks: boolean;
  /** Steps from the root. */
  readonly column: number;
  /** Place among those of its column. */
  readonly row: number;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly (readonly [from: GraphNode, to: GraphNode])[];
  readonly columns: number;
  readonly rows: number;
}

/**
 * Where each deployment of a form stands: behind everything that leads to it, so that lines run one way, but for those of a circle.
 * What no known dependency leads to stands beside the root.
 */
export function toGraph(root: string, form: ConsentForm, dependenciesOf: (id: string) => readonly string[]): Graph {
  const targetsOf = (id: string): readonly string[] => [...new Set(dependenciesOf(id))].filter((each) => form.has(each));
  const order = inOrder(root, targetsOf);
  const columnOf = new Map(order.map((id) => [id, 0]));
  const links: [string, string][] = [];
  for (const [at, from] of order.entries()) {
    for (const to of targetsOf(from)) {
      links.push([from, to]);
      if (order.indexOf(to) > at) columnOf.set(to, Math.max(columnOf.get(to) ?? 0, (columnOf.get(from) ?? 0) + 1));
    }
  }
  for (const id of form.keys()) {
    if (columnOf.has(id)) continue;
    columnOf.set(id, 1);
    links.push([root, id]);
  }
  return place(columnOf, links, form);
}

/** Everything that is reached from the root, each behind what leads to it, as far as there are no circles. */
function inOrder(root: string, targetsOf: (id: string) => readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const left: string[] = [];
  const visit = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    for (const target of targetsOf(id).toReversed()) visit(target);
    left.push(id);
  };
  visit(root);
  return left.reverse();
}

function place(columnOf: ReadonlyMap<string, number>, links: readonly (readonly [string, string])[], form: ConsentForm): Graph {
  const rowsOf = new Map<number, number>();
  const nodes = new Map<string, GraphNode>();
  for (const [id, column] of columnOf) {
    const row = rowsOf.get(column) ?? 0;
    rowsOf.set(column, row + 1);
    nodes.set(id, { id, asks: form.get(id) === true, column, row });
  }
  const edges = links.flatMap(([from, to]) => {
    const [start, end] = [nodes.get(from), nodes.get(to)];
    return start === undefined || end === undefined || start === end ? [] : [[start, end] as const];
  });
  return { nodes: [...nodes.values()], edges, columns: rowsOf.size, rows: Math.max(...rowsOf.values()) };
}
