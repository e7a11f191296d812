import { useId } from 'react';
import { useNameOf, usePage } from '../page/page.tsx';
import type { ConsentForm } from '../service/consents.ts';
import { useConsentWords } from './consent-words.ts';

const [nodeHeight, gapX, gapY, margin] = [38, 56, 28, 4];
const arcDepth = 16;
const letterWidth = 7;
/** Nodes are as wide as the longest name takes, as long as all columns fit into a page of this width. */
const [leastWidth, pageWidth, padding] = [150, 700, 20];

/** A graph, and how wide its nodes are drawn. */
interface Drawn extends Graph {
  readonly nodeWidth: number;
}

/** Who is reached through whom. The list beside it says the same in words. */
export function ConsentGraph({ root, form }: { readonly root: string; readonly form: ConsentForm }) {
  const own = useConsentWords();
  const nameOf = useNameOf();
  const arrows = useId();
  const { deployments } = usePage();
  const laid = toGraph(root, form, (id) => deployments.find((each) => each.id === id)?.dependencies ?? []);
  const nodeWidth = widthOf(laid, nameOf);
  const graph: Drawn = { ...laid, nodeWidth };
  const width = graph.columns * (nodeWidth + gapX) - gapX + 2 * margin;
  const height = graph.rows * (nodeHeight + gapY) - gapY + (graph.edges.some(isArc) ? arcDepth : 0) + 2 * margin;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard
    <div className="graph" tabIndex={0}>
      <svg viewBox={`0 0 ${width} ${height}`} width={width} role="img" aria-label={own.consentGraph(nameOf(root))}>
        <defs>
          {['plain', 'asks'].map((kind) => (
            <marker
              key={kind}
              {...{ id: `${arrows}${kind}`, className: `arrow ${kind}`, viewBox: '0 0 8 8', refX: 7, refY: 4 }}
              {...{ markerWidth: 7, markerHeight: 7, orient: 'auto' }}
            >
              <path d="M0 0L8 4L0 8z" />
            </marker>
          ))}
        </defs>
        {graph.edges.map(([from, to]) => (
          <path
            key={`${from.id} ${to.id}`}
            className={to.asks ? 'edge asks' : 'edge'}
            d={toLine(from, to, graph)}
            markerEnd={`url(#${arrows}${to.asks ? 'asks' : 'plain'})`}
          />
        ))}
        {graph.nodes.map((node) => {
          const { x, y } = at(node, graph);
          return (
            <g key={node.id} className={node.asks ? 'node asks' : 'node'}>
              <rect x={x} y={y} width={nodeWidth} height={nodeHeight} rx="10" />
              <text x={x + nodeWidth / 2} y={y + nodeHeight / 2 + 4} textAnchor="middle">
                {shorten(nameOf(node.id), nodeWidth)}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The columns stand around one middle. */
function at({ column, row }: GraphNode, { nodes, rows, nodeWidth }: Drawn): Point {
  const inColumn = nodes.filter((node) => node.column === column).length;
  const offset = ((rows - inColumn) * (nodeHeight + gapY)) / 2;
  return { x: margin + column * (nodeWidth + gapX), y: margin + offset + row * (nodeHeight + gapY) };
}

/** To the right as a curve; past columns between and back to the left as an arc below them. */
function toLine(from: GraphNode, to: GraphNode, graph: Drawn): string {
  const { nodeWidth } = graph;
  const [start, end] = [at(from, graph), at(to, graph)];
  if (!isArc([from, to])) {
    const [x1, y1, x2, y2] = [start.x + nodeWidth, start.y + nodeHeight / 2, end.x, end.y + nodeHeight / 2];
    const middle = (x1 + x2) / 2;
    return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  }
  const [x1, x2] = [start.x + nodeWidth / 2, end.x + nodeWidth / 2];
  const [y1, y2] = [start.y + nodeHeight, end.y + nodeHeight];
  // Of a curve like this, the lowest point lies at three quarters of the way down to what it is drawn to.
  const lowest = margin + graph.rows * (nodeHeight + gapY) - gapY + arcDepth - margin;
  const low = (lowest - (y1 + y2) / 8) / 0.75;
  return `M${x1} ${y1}C${x1} ${low} ${x2} ${low} ${x2} ${y2}`;
}

function isArc([from, to]: Graph['edges'][number]): boolean {
  return to.column !== from.column + 1;
}

function widthOf({ nodes, columns }: Graph, nameOf: (id: string) => string): number {
  const longest = Math.max(...nodes.map(({ id }) => nameOf(id).length)) * letterWidth + padding;
  const room = Math.floor((pageWidth - (columns - 1) * gapX) / columns);
  return Math.max(leastWidth, Math.min(longest, room));
}

function shorten(name: string, nodeWidth: number): string {
  const mostLetters = Math.floor((nodeWidth - padding) / letterWidth);
  return name.length > mostLetters ? `${name.slice(0, mostLetters - 1)}…` : name;
}

interface GraphNode {
  readonly id: string;
  readonly asks: boolean;
  /** Steps from the root. */
  readonly column: number;
  /** Place among those of its column. */
  readonly row: number;
}

interface Graph {
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
