import type { ErrorCode } from '#contract/errors.ts';
import type { CallEnd, CallOutcome, Operation } from '#domain/telemetry.ts';
import { Histogram } from './histogram.ts';
import { histograms } from './instruments.ts';

/** What is measured of one operation of one deployment; each label set is bound once, on its first use. */
export class CallSeries {
  readonly firstByte: Histogram;
  readonly outputToken: Histogram;
  readonly betweenChunks: Histogram;
  readonly inputTokens: Histogram;
  readonly outputTokens: Histogram;
  readonly attributes: Readonly<Record<string, string>>;
  inFlightCalls = 0;
  openStreams = 0;
  readonly #ok: Histogram;
  readonly #others = new Map<string, Histogram>();

  constructor(deployment: string, operation: Operation) {
    const labels = {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': 'parley',
      'gen_ai.request.model': deployment,
    };
    this.attributes = labels;
    this.firstByte = new Histogram(histograms.firstByte.boundaries, labels);
    this.outputToken = new Histogram(histograms.outputToken.boundaries, labels);
    this.betweenChunks = new Histogram(histograms.betweenChunks.boundaries, labels);
    this.inputTokens = new Histogram(histograms.tokens.boundaries, { ...labels, 'gen_ai.token.type': 'input' });
    this.outputTokens = new Histogram(histograms.tokens.boundaries, { ...labels, 'gen_ai.token.type': 'output' });
    this.#ok = new Histogram(histograms.call.boundaries, { ...labels, 'parley.outcome': 'ok' });
  }

  /** Whether a call of these was ever made. */
  get hasBeenUsed(): boolean {
    return this.inFlightCalls > 0 || this.#ok.count > 0 || this.#others.size > 0;
  }

  /** The duration of calls that ended so; the code of an error is one of a closed set. */
  ended({ outcome, error }: CallEnd): Histogram {
    if (outcome === 'ok' && error === undefined) return this.#ok;
    return this.#other(outcome, error?.code);
  }

  durations(): Iterable<Histogram> {
    return [this.#ok, ...this.#others.values()];
  }

  #other(outcome: CallOutcome, code: ErrorCode | undefined): Histogram {
    const key = `${outcome} ${code}`;
    let series = this.#others.get(key);
    if (series === undefined) {
      const labels = { ...this.attributes, 'parley.outcome': outcome };
      series = new Histogram(histograms.call.boundaries, code === undefined ? labels : { ...labels, 'error.type': code });
      this.#others.set(key, series);
    }
    return series;
  }
}
