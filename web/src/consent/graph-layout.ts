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

/** Where each deployment of a form stands: by its distance from the root. What no known dependency leads to stands beside the root. */
export function toGraph(root: string, form: ConsentForm, dependenciesOf: (id: string) => readonly string[]): Graph {
  const columnOf = new Map([[root, 0]]);
  const links: [string, string][] = [];
  let reached = [root];
  while (reached.length > 0) {
    const next: string[] = [];
    for (const from of reached) {
      for (const to of new Set(dependenciesOf(from))) {
        if (!form.has(to)) continue;
        links.push([from, to]);
        if (columnOf.has(to)) continue;
        columnOf.set(to, (columnOf.get(from) ?? 0) + 1);
        next.push(to);
      }
    }
    reached = next;
  }
  for (const id of form.keys()) {
    if (columnOf.has(id)) continue;
    columnOf.set(id, 1);
    links.push([root, id]);
  }
  return place(columnOf, links, form);
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
