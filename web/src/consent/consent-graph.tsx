import { useNameOf, usePage } from '../page/page.tsx';
import type { ConsentForm } from '../service/consents.ts';
import { useWords } from '../words/words.tsx';
import { type Graph, type GraphNode, toGraph } from './graph-layout.ts';

const [nodeWidth, nodeHeight, gapX, gapY, margin] = [150, 38, 56, 16, 4];
const mostLetters = 19;

/** Who is reached through whom. The list beside it says the same in words. */
export function ConsentGraph({ root, form }: { readonly root: string; readonly form: ConsentForm }) {
  const words = useWords();
  const nameOf = useNameOf();
  const { deployments } = usePage();
  const graph = toGraph(root, form, (id) => deployments.find((each) => each.id === id)?.dependencies ?? []);
  const width = graph.columns * (nodeWidth + gapX) - gapX + 2 * margin;
  const height = graph.rows * (nodeHeight + gapY) - gapY + 2 * margin;
  return (
    <div className="graph">
      <svg viewBox={`0 0 ${width} ${height}`} width={width} role="img" aria-label={words.consentGraph(nameOf(root))}>
        {graph.edges.map(([from, to]) => (
          <path
            key={`${from.id} ${to.id}`}
            className={to.asks ? 'edge asks' : 'edge'}
            d={toCurve(at(from, graph), at(to, graph))}
          />
        ))}
        {graph.nodes.map((node) => {
          const { x, y } = at(node, graph);
          return (
            <g key={node.id} className={node.asks ? 'node asks' : 'node'}>
              <rect x={x} y={y} width={nodeWidth} height={nodeHeight} rx="10" />
              <text x={x + nodeWidth / 2} y={y + nodeHeight / 2 + 4} textAnchor="middle">
                {shorten(nameOf(node.id))}
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
function at({ column, row }: GraphNode, { nodes, rows }: Graph): Point {
  const inColumn = nodes.filter((node) => node.column === column).length;
  const offset = ((rows - inColumn) * (nodeHeight + gapY)) / 2;
  return { x: margin + column * (nodeWidth + gapX), y: margin + offset + row * (nodeHeight + gapY) };
}

function toCurve(from: Point, to: Point): string {
  const [x1, y1, x2, y2] = [from.x + nodeWidth, from.y + nodeHeight / 2, to.x, to.y + nodeHeight / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function shorten(name: string): string {
  return name.length > mostLetters ? `${name.slice(0, mostLetters - 1)}…` : name;
}
