import { useId } from 'react';
import type { ConsentForm } from '../service/consents.ts';
import { useGetName, usePage } from '../shell/page.tsx';
import { useConsentStrings } from './consent-strings.ts';

const [nodeHeight, gapX, gapY, margin] = [38, 56, 28, 4];
const arcDepth = 16;
/** Approximate width of a letter, in pixels. */
const letterWidth = 7;
/** Minimum node width. Nodes are as wide as the longest name needs, if all columns fit into this page width. */
const [minWidth, pageWidth, padding] = [150, 700, 20];

/** A graph with the node width. */
interface SizedGraph extends Graph {
  readonly nodeWidth: number;
}

/** Graph of the deployments that the root can reach. The list next to it contains the same information as text. */
export function ConsentGraph({ root, form }: { readonly root: string; readonly form: ConsentForm }) {
  const consentStrings = useConsentStrings();
  const getName = useGetName();
  const arrowId = useId();
  const { deployments } = usePage();
  const layout = buildGraph(root, form, (id) => deployments.find((deployment) => deployment.id === id)?.dependencies ?? []);
  const nodeWidth = computeNodeWidth(layout, getName);
  const graph: SizedGraph = { ...layout, nodeWidth };
  const width = graph.columns * (nodeWidth + gapX) - gapX + 2 * margin;
  const height = graph.rows * (nodeHeight + gapY) - gapY + (graph.edges.some(isArc) ? arcDepth : 0) + 2 * margin;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
    <div className="consent-graph" tabIndex={0}>
      <svg viewBox={`0 0 ${width} ${height}`} width={width} role="img" aria-label={consentStrings.consentGraph(getName(root))}>
        <defs>
          {['plain', 'needs-consent'].map((kind) => (
            <marker
              key={kind}
              {...{ id: `${arrowId}${kind}`, className: `arrow ${kind}`, viewBox: '0 0 8 8', refX: 7, refY: 4 }}
              {...{ markerWidth: 7, markerHeight: 7, orient: 'auto' }}
            >
              <path d="M0 0L8 4L0 8z" />
            </marker>
          ))}
        </defs>
        {graph.edges.map(([from, to]) => (
          <path
            key={`${from.id} ${to.id}`}
            className={to.requiresConsent ? 'edge needs-consent' : 'edge'}
            d={buildPath(from, to, graph)}
            markerEnd={`url(#${arrowId}${to.requiresConsent ? 'needs-consent' : 'plain'})`}
          />
        ))}
        {graph.nodes.map((node) => {
          const { x, y } = computePosition(node, graph);
          return (
            <g key={node.id} className={node.requiresConsent ? 'node needs-consent' : 'node'}>
              <rect x={x} y={y} width={nodeWidth} height={nodeHeight} rx="10" />
              <text x={x + nodeWidth / 2} y={y + nodeHeight / 2 + 4} textAnchor="middle">
                {shorten(getName(node.id), nodeWidth)}
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

/** Returns the top left corner of a node. Columns are vertically centered. */
function computePosition({ column, row }: GraphNode, { nodes, rows, nodeWidth }: SizedGraph): Point {
  const columnCount = nodes.filter((node) => node.column === column).length;
  const offset = ((rows - columnCount) * (nodeHeight + gapY)) / 2;
  return { x: margin + column * (nodeWidth + gapX), y: margin + offset + row * (nodeHeight + gapY) };
}

/** Returns the path of an edge: a curve to the next column, otherwise an arc below all nodes. */
function buildPath(from: GraphNode, to: GraphNode, graph: SizedGraph): string {
  const { nodeWidth } = graph;
  const [start, end] = [computePosition(from, graph), computePosition(to, graph)];
  if (!isArc([from, to])) {
    const [x1, y1, x2, y2] = [start.x + nodeWidth, start.y + nodeHeight / 2, end.x, end.y + nodeHeight / 2];
    const middle = (x1 + x2) / 2;
    return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  }
  const [x1, x2] = [start.x + nodeWidth / 2, end.x + nodeWidth / 2];
  const [y1, y2] = [start.y + nodeHeight, end.y + nodeHeight];
  // The lowest point of such a curve is at three quarters of the height of its control points.
  const bottom = graph.rows * (nodeHeight + gapY) - gapY + arcDepth;
  const controlY = (bottom - (y1 + y2) / 8) / 0.75;
  return `M${x1} ${y1}C${x1} ${controlY} ${x2} ${controlY} ${x2} ${y2}`;
}

function isArc([from, to]: Graph['edges'][number]): boolean {
  return to.column !== from.column + 1;
}

function computeNodeWidth({ nodes, columns }: Graph, getName: (id: string) => string): number {
  const contentWidth = Math.max(...nodes.map(({ id }) => getName(id).length)) * letterWidth + padding;
  const maxWidth = Math.floor((pageWidth - (columns - 1) * gapX) / columns);
  return Math.max(minWidth, Math.min(contentWidth, maxWidth));
}

function shorten(name: string, nodeWidth: number): string {
  const maxLetters = Math.floor((nodeWidth - padding) / letterWidth);
  return name.length > maxLetters ? `${name.slice(0, maxLetters - 1)}…` : name;
}

interface GraphNode {
  readonly id: string;
  readonly requiresConsent: boolean;
  /** Number of steps from the root. */
  readonly column: number;
  /** Position within the column. */
  readonly row: number;
}

interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly (readonly [from: GraphNode, to: GraphNode])[];
  readonly columns: number;
  readonly rows: number;
}

/**
 * * Places each deployment after all deployments that use it, so that edges run in one direction, except within cycles.
 * Deployments that cannot be reached through known dependencies are placed next to the root.
 */
export function buildGraph(root: string, form: ConsentForm, listDependencies: (id: string) => readonly string[]): Graph {
  const listTargets = (id: string): readonly string[] => [...new Set(listDependencies(id))].filter((target) => form.has(target));
  const sortedIds = sortTopologically(root, listTargets);
  const columns = new Map(sortedIds.map((id) => [id, 0]));
  const links: [string, string][] = [];
  for (const [index, from] of sortedIds.entries()) {
    for (const to of listTargets(from)) {
      links.push([from, to]);
      if (sortedIds.indexOf(to) > index) columns.set(to, Math.max(columns.get(to) ?? 0, (columns.get(from) ?? 0) + 1));
    }
  }
  for (const id of form.keys()) {
    if (columns.has(id)) continue;
    columns.set(id, 1);
    links.push([root, id]);
  }
  return arrange(columns, links, form);
}

/** Sorts the deployments that the root reaches topologically. Edges that close a cycle are ignored. */
function sortTopologically(root: string, listTargets: (id: string) => readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const visited: string[] = [];
  const visit = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    for (const target of listTargets(id).toReversed()) visit(target);
    visited.push(id);
  };
  visit(root);
  return visited.reverse();
}

function arrange(columns: ReadonlyMap<string, number>, links: readonly (readonly [string, string])[], form: ConsentForm): Graph {
  const rowCounts = new Map<number, number>();
  const nodes = new Map<string, GraphNode>();
  for (const [id, column] of columns) {
    const row = rowCounts.get(column) ?? 0;
    rowCounts.set(column, row + 1);
    nodes.set(id, { id, requiresConsent: form.get(id) === true, column, row });
  }
  const edges = links.flatMap(([from, to]) => {
    const [start, end] = [nodes.get(from), nodes.get(to)];
    return start === undefined || end === undefined || start === end ? [] : [[start, end] as const];
  });
  return { nodes: [...nodes.values()], edges, columns: rowCounts.size, rows: Math.max(...rowCounts.values()) };
}
