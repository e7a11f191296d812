import { useCallback, useState } from 'react';
import { CodeBlock } from '../markdown/code-block.tsx';
import { useLanguage } from '../strings/strings.tsx';
import './chart.css';
import { isJsonObject, toObject, toText, tryParseJson } from '#base/json/json.ts';

const [height, left, bottom, top] = [300, 44, 34, 12];
const labelWidth = 80;
const steps = 4;
/** Maximum number of rows of a table. The download has all rows. */
export const maxRows = 200;

/** Draws chart data as lines, bars, or dots, with the numbers in a table below. Other data is shown as text. */
export function Chart({ text, title }: { readonly text: string; readonly title: string }) {
  const { strings } = useLanguage();
  const [figure, width] = useWidth();
  const chart = readChart(text);
  if (chart === undefined) return <CodeBlock text={text} language="json" isComplete />;
  const name = chart.title || title;
  return (
    <figure className="chart" ref={figure}>
      {chart.title !== '' && chart.title !== title && <figcaption>{chart.title}</figcaption>}
      <Drawing {...{ chart, name, width }} />
      {chart.series.length > 1 && (
        <ul className="legend">
          {chart.series.map((series, index) => (
            <li key={series.id} className={`series-${index % 6}`}>
              {series.name}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary className="small soft">{strings.asTable}</summary>
        <NumberTable chart={chart} />
      </details>
    </figure>
  );
}

/** Returns a ref callback, and the width of its element in pixels. Drawings follow it, so that their text keeps its size. */
export function useWidth(): readonly [(element: Element | null) => (() => void) | undefined, number] {
  const [width, setWidth] = useState(640);
  const observe = useCallback((element: Element | null) => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(200, Math.round(entry?.contentRect.width ?? 0))));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [observe, width];
}

interface DrawingProps {
  readonly chart: ChartData;
  readonly name: string;
  readonly width: number;
}

function Drawing({ chart: { series }, name, width }: DrawingProps) {
  const { locale } = useLanguage();
  const labels = listLabels(series);
  const positions = new Map(labels.map((label, index) => [label, index]));
  const ys = series.flatMap(({ points }) => points.map(({ y }) => y));
  const [low, high] = [Math.min(0, ...ys), Math.max(0, ...ys)];
  const span = high - low || 1;
  const toY = (y: number): number => top + ((high - y) / span) * (height - top - bottom);
  const slot = (width - left) / labels.length;
  const toX = (x: string): number => left + ((positions.get(x) ?? 0) + 0.5) * slot;
  const labelInterval = Math.ceil((labels.length * labelWidth) / (width - left));
  const bars = series.filter(({ kind }) => kind === 'bars');
  return (
    <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={name}>
      {Array.from({ length: steps + 1 }, (_, step) => low + (span * step) / steps).map((y) => (
        <g key={y}>
          <line className="grid-line" x1={left} x2={width} y1={toY(y)} y2={toY(y)} />
          <text className="axis" x={left - 8} y={toY(y) + 4} textAnchor="end">
            {y.toLocaleString(locale, { maximumSignificantDigits: 3, notation: 'compact' })}
          </text>
        </g>
      ))}
      {labels.map(
        (x, index) =>
          index % labelInterval === 0 && (
            <text key={x} className="axis" x={toX(x)} y={height - 12} textAnchor="middle">
              {x.slice(0, 12)}
            </text>
          ),
      )}
      {series.map((item, index) => (
        <g key={item.id} className={`series-${index % 6}`}>
          {item.kind === 'bars'
            ? item.points.map(({ x, y }, pointIndex) => {
                const barWidth = (slot * 0.7) / bars.length;
                const from = toX(x) - slot * 0.35 + barWidth * bars.indexOf(item);
                return (
                  <rect
                    // biome-ignore lint/suspicious/noArrayIndexKey: the points never move
                    key={pointIndex}
                    x={from}
                    width={Math.max(barWidth - 1, 1)}
                    y={Math.min(toY(y), toY(0))}
                    height={Math.abs(toY(y) - toY(0))}
                    rx="2"
                  />
                );
              })
            : renderCurve(item, toX, toY)}
        </g>
      ))}
    </svg>
  );
}

/** Lists the different x values of all series in their order. */
function listLabels(series: readonly Series[]): readonly string[] {
  return [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))];
}

function renderCurve({ kind, points }: Series, toX: (x: string) => number, toY: (y: number) => number) {
  const dots = points.map(({ x, y }) => [toX(x), toY(y)] as const);
  return (
    <>
      {kind === 'line' && <polyline points={dots.map((dot) => dot.join(',')).join(' ')} />}
      {(kind === 'dots' || dots.length <= 40) &&
        // biome-ignore lint/suspicious/noArrayIndexKey: the points never move
        dots.map(([x, y], index) => <circle key={index} cx={x} cy={y} r="3" />)}
    </>
  );
}

function NumberTable({ chart: { series } }: { readonly chart: ChartData }) {
  const { strings, locale } = useLanguage();
  const labels = listLabels(series);
  const hiddenRows = labels.length - maxRows;
  const columns = series.map(({ id, points }) => ({ id, values: Map.groupBy(points, ({ x }) => x) }));
  return (
    <>
      <table>
        <thead>
          <tr>
            <td />
            {series.map(({ id, name }) => (
              <th key={id} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.slice(0, maxRows).map((label) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {columns.map(({ id, values }) => (
                <td key={id} className="number">
                  {(values.get(label) ?? []).map(({ y }) => y.toLocaleString(locale)).join(' · ')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {hiddenRows > 0 && <p className="soft small">{strings.moreRows(hiddenRows.toLocaleString(locale))}</p>}
    </>
  );
}

interface Series {
  readonly id: number;
  /** Several series can have the same name. */
  readonly name: string;
  readonly kind: 'bars' | 'line' | 'dots';
  readonly points: readonly { readonly x: string; readonly y: number }[];
}

interface ChartData {
  readonly title: string;
  readonly series: readonly Series[];
}

const maxPoints = 2000;
const maxSeries = 12;
/** Maximum number of bars and dots of a chart. Browsers need seconds to draw tens of thousands. */
const maxMarks = 6000;

/** Reads the bar, line, and dot traces of a Plotly figure. Returns undefined if there are none. */
export function readChart(text: string): ChartData | undefined {
  const figure = tryParseJson(text);
  if (!isJsonObject(figure) || !Array.isArray(figure.data)) return undefined;
  const traces = figure.data.slice(0, maxSeries);
  const series = traces.flatMap((trace, index) => toSeries(trace, index, maxMarks / traces.length) ?? []);
  if (series.length === 0) return undefined;
  const layout = toObject(figure.layout);
  const title = isJsonObject(layout.title) ? layout.title.text : layout.title;
  return { title: toText(title), series };
}

function toSeries(trace: unknown, id: number, maxSeriesMarks: number): Series | undefined {
  if (!isJsonObject(trace) || !Array.isArray(trace.y)) return undefined;
  const kind = getSeriesKind(trace);
  if (kind === undefined) return undefined;
  const xs = Array.isArray(trace.x) ? trace.x : [];
  const points = trace.y.slice(0, kind === 'line' ? maxPoints : Math.min(maxPoints, maxSeriesMarks)).flatMap((y, index) => {
    return typeof y === 'number' && Number.isFinite(y) ? [{ x: String(xs[index] ?? index), y }] : [];
  });
  const name = typeof trace.name === 'string' ? trace.name : `${id + 1}`;
  return points.length === 0 ? undefined : { id, name, kind, points };
}

function getSeriesKind({ type = 'scatter', mode }: { type?: unknown; mode?: unknown }): Series['kind'] | undefined {
  if (type === 'bar') return 'bars';
  if (type !== 'scatter' && type !== 'scattergl') return undefined;
  return mode === 'markers' ? 'dots' : 'line';
}
