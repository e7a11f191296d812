import { isJsonObject, tryParseJson } from '#base/json.ts';

/** One row of values of a chart. */
export interface Series {
  readonly name: string;
  readonly kind: 'bars' | 'line' | 'dots';
  readonly points: readonly { readonly x: string | number; readonly y: number }[];
}

export interface ChartData {
  readonly title: string;
  readonly series: readonly Series[];
}

const mostPoints = 2000;
const mostSeries = 12;

/** The rows of a Plotly figure that can be drawn: bars, lines and dots; undefined where there are none. */
export function readChart(text: string): ChartData | undefined {
  const figure = tryParseJson(text);
  if (!isJsonObject(figure) || !Array.isArray(figure.data)) return undefined;
  const series = figure.data.slice(0, mostSeries).flatMap((trace, at) => toSeries(trace, at) ?? []);
  if (series.length === 0) return undefined;
  const layout = isJsonObject(figure.layout) ? figure.layout : {};
  const title = isJsonObject(layout.title) ? layout.title.text : layout.title;
  return { title: typeof title === 'string' ? title : '', series };
}

function toSeries(trace: unknown, at: number): Series | undefined {
  if (!isJsonObject(trace) || !Array.isArray(trace.y)) return undefined;
  const kind = kindOf(trace);
  if (kind === undefined) return undefined;
  const xs = Array.isArray(trace.x) ? trace.x : [];
  const points = trace.y.slice(0, mostPoints).flatMap((y, place) => {
    const x = xs[place] ?? place;
    return typeof y === 'number' && Number.isFinite(y) ? [{ x: typeof x === 'number' ? x : String(x), y }] : [];
  });
  return points.length === 0 ? undefined : { name: typeof trace.name === 'string' ? trace.name : `${at + 1}`, kind, points };
}

function kindOf({ type = 'scatter', mode }: { type?: unknown; mode?: unknown }): Series['kind'] | undefined {
  if (type === 'bar') return 'bars';
  if (type !== 'scatter' && type !== 'scattergl') return undefined;
  return mode === 'markers' ? 'dots' : 'line';
}
