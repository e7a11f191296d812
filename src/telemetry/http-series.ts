import { Histogram } from './histogram.ts';
import { histograms } from './instruments.ts';

const other = '_OTHER';
const maxRoutes = 300;
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

/** Durations of HTTP requests by method, route pattern and status. */
export class HttpSeries {
  readonly #routes = new Map<string, Map<string, Map<number, Histogram>>>();

  of(method: string, route: string, status: number): Histogram {
    const byMethod = this.#routes.get(route) ?? this.#bindRoute(route);
    const byStatus = byMethod.get(method) ?? this.#bindMethod(byMethod, method);
    return byStatus.get(status) ?? this.#bindStatus(byStatus, { method, route, status });
  }

  *durations(): Iterable<Histogram> {
    for (const byMethod of this.#routes.values()) {
      for (const byStatus of byMethod.values()) yield* byStatus.values();
    }
  }

  #bindRoute(route: string): Map<string, Map<number, Histogram>> {
    const label = this.#routes.size < maxRoutes ? route : other;
    const byMethod = this.#routes.get(label) ?? new Map();
    this.#routes.set(label, byMethod);
    return byMethod;
  }

  #bindMethod(byMethod: Map<string, Map<number, Histogram>>, method: string): Map<number, Histogram> {
    const label = methods.has(method) ? method : other;
    const byStatus = byMethod.get(label) ?? new Map();
    byMethod.set(label, byStatus);
    return byStatus;
  }

  #bindStatus(
    byStatus: Map<number, Histogram>,
    { method, route, status }: { method: string; route: string; status: number },
  ): Histogram {
    const label = Number.isInteger(status) && status >= 100 && status <= 599 ? status : 0;
    const known = byStatus.get(label);
    if (known !== undefined) return known;
    const series = new Histogram(histograms.httpRequest.boundaries, {
      'http.request.method': methods.has(method) ? method : other,
      'http.route': this.#routes.has(route) ? route : other,
      'http.response.status_code': String(label),
      ...(label >= 500 && { 'error.type': String(label) }),
    });
    byStatus.set(label, series);
    return series;
  }
}
