import { isJsonObject, type JsonObject, parseJson, tryParseJson } from '#base/json.ts';
import { joinPath } from '#base/url-path.ts';
import type { EvaluationRequest } from '#contract/evaluation/evaluation-request.ts';
import type { CaseResult } from '#domain/evaluation/evaluation.ts';
import { EvaluateFault } from './read-cases.ts';

/** An evaluation as the service tells it. */
export interface ToldEvaluation {
  readonly id: string;
  readonly version: number;
  readonly status: 'in_progress' | 'completed' | 'cancelled' | 'failed';
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly costUsd: number | null;
  readonly digest: string | null;
  readonly error: string | null;
}

export type ToldResult = Omit<CaseResult, 'costUsd'> & { readonly costUsd: number | null };
export type EvaluationWithResults = ToldEvaluation & { readonly results: readonly ToldResult[] };

/** What the service tells of two of them. */
export interface ToldComparison {
  readonly better: number;
  readonly worse: number;
  readonly same: number;
  readonly otherAnswers: number;
  readonly cases: readonly { readonly name: string; readonly change: string }[];
}

const timeoutMs = 120_000;
const bounds = { maxDepth: 1000, maxNodes: Number.POSITIVE_INFINITY, allowsProto: true };

/** Evaluations of a running service. What it throws is an EvaluateFault. */
export class EvaluationClient {
  readonly #base: URL;
  readonly #key: string | undefined;

  constructor(base: URL, key: string | undefined) {
    this.#base = base;
    this.#key = key;
  }

  /** `BUCKET/PATH` of an application, percent-encoded. */
  async placeOf(application: string): Promise<string> {
    // Pattern bound: an argument of the command line.
    const whole = /^applications\/(.+\/.+)$/.exec(application)?.[1];
    if (whole !== undefined) return whole;
    const { bucket } = (await this.#send('GET', 'v1/bucket')) as { bucket: string };
    return `${bucket}/${application}`;
  }

  async start(place: string, request: EvaluationRequest): Promise<ToldEvaluation> {
    return (await this.#send('POST', `v1/evaluations/applications/${place}`, request)) as unknown as ToldEvaluation;
  }

  async progress(id: string): Promise<ToldEvaluation> {
    return (await this.#send('GET', `v1/evaluations/${id}`, undefined, 'results=false')) as unknown as ToldEvaluation;
  }

  async results(id: string): Promise<EvaluationWithResults> {
    return (await this.#send('GET', `v1/evaluations/${id}`)) as unknown as EvaluationWithResults;
  }

  async compare(before: string, after: string): Promise<ToldComparison> {
    const path = `v1/evaluations/${after}/comparison`;
    return (await this.#send('GET', path, undefined, `with=${before}`)) as unknown as ToldComparison;
  }

  async cancel(id: string): Promise<void> {
    await this.#send('POST', `v1/evaluations/${id}/cancel`);
  }

  async #send(method: string, path: string, body?: object, query = ''): Promise<JsonObject> {
    const url = joinPath(this.#base, path);
    url.search = query;
    const headers = {
      ...(this.#key !== undefined && { Authorization: `Bearer ${this.#key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const answer = await fetch(url, {
      ...{ method, headers, signal: AbortSignal.timeout(timeoutMs) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause) => {
      throw new EvaluateFault(`${this.#base.origin} cannot be reached`, { cause });
    });
    const text = await answer.text();
    if (!answer.ok) throw new EvaluateFault(`the service answers ${answer.status}: ${messageIn(text)}`);
    return parseJson(text, bounds) as JsonObject;
  }
}

function messageIn(text: string): string {
  const value = tryParseJson(text);
  const error = isJsonObject(value) && isJsonObject(value.error) ? value.error.message : undefined;
  return typeof error === 'string' ? error : text.slice(0, 200);
}
