import { readFile, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { joinPath } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject, parseJson, tryParseJson } from '#base/json/json.ts';
import { parseJsonc } from '#configuration/parse-jsonc.ts';
import { parseYaml } from '#configuration/parse-yaml.ts';
import type { ParsedText } from '#configuration/parsed-text.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { casesOfCsv } from '#contract/evaluation/csv-cases.ts';
import type { EvaluationCase } from '#contract/evaluation/evaluation-case.ts';
import type { EvaluationRequest } from '#contract/evaluation/evaluation-request.ts';
import { parseCases } from '#contract/evaluation/parse-cases.ts';
import { nameOfCase } from '#domain/evaluation/compare-results.ts';
import type { CaseResult } from '#domain/evaluation/evaluation.ts';
import type { EvaluateFlags } from './evaluate-flags.ts';

/** What the command works with. */
export interface EvaluateDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether somebody looks at stderr. */
  readonly isTerminal: boolean;
  readonly tell: (text: string) => void;
  readonly show: (line: string) => void;
  /** Called with what is to happen if the user breaks off. */
  readonly onBreak: (leave: () => Promise<void>) => void;
}

const lookMs = 250;
const defaultUrl = 'http://127.0.0.1:8080';
type Running = Omit<EvaluateDeps, 'environment' | 'show'> & { readonly client: EvaluationClient };

/** Runs `parley evaluate`; gives how it exits. */
export async function evaluateCommand(flags: EvaluateFlags, deps: EvaluateDeps): Promise<0 | 1 | 2> {
  try {
    return await evaluate(flags, deps);
  } catch (thrown) {
    const isKnown = thrown instanceof EvaluateFault || (thrown instanceof Error && 'syscall' in thrown);
    if (!isKnown) throw thrown;
    deps.tell(`parley: ${thrown.message}\n`);
    return 2;
  }
}

async function evaluate(flags: EvaluateFlags, { environment, show, ...terminal }: EvaluateDeps): Promise<0 | 1> {
  const { url = environment.PARLEY_URL ?? defaultUrl, key = environment.PARLEY_KEY, version, against, parallel } = flags;
  if (!URL.canParse(url)) throw new EvaluateFault('PARLEY_URL is no address');
  const cases = flags.cases === undefined ? undefined : await readCases(flags.cases);
  const client = new EvaluationClient(new URL(url), key);
  const place = await client.placeOf(flags.application);
  const request = { ...(cases && { cases }), ...(parallel !== undefined && { parallel }) };
  const running = { ...terminal, client };
  const before = against === undefined ? undefined : await run(running, place, { ...request, version: against });
  const evaluation = await run(running, place, { ...request, ...(version !== undefined && { version }) });
  for (const line of toLines(evaluation)) show(line);
  if (before !== undefined)
    for (const line of toDifference(before.version, await client.compare(before.id, evaluation.id))) show(line);
  if (flags.json !== undefined) await writeFile(flags.json, toJsonReport(`applications/${place}`, evaluation));
  if (flags.junit !== undefined) await writeFile(flags.junit, toJunit(`applications/${place}`, evaluation));
  return evaluation.status === 'completed' && evaluation.passed === evaluation.total ? 0 : 1;
}

async function run(
  { client, isTerminal, tell, onBreak }: Running,
  place: string,
  request: Parameters<EvaluationClient['start']>[1],
): Promise<EvaluationWithResults> {
  const { id, version, total } = await client.start(place, request);
  onBreak(() => client.cancel(id));
  for (;;) {
    const { status, passed, failed, errors } = await client.progress(id);
    const isOver = status !== 'in_progress';
    if (isTerminal || isOver)
      tell(`${isTerminal ? '\r' : ''}version ${version}: ${passed + failed + errors} of ${total} cases${isOver ? '\n' : ''}`);
    if (isOver) return client.results(id);
    await wait(lookMs);
  }
}

function toDifference(before: number, { better, worse, same, otherAnswers, cases }: ToldComparison): readonly string[] {
  const changed = cases.filter(({ change }) => change === 'better' || change === 'worse');
  return [
    `against version ${before}: ${better} better, ${worse} worse, ${same} the same, ${otherAnswers} with another answer`,
    ...changed.map(({ name, change }) => `${change.toUpperCase().padEnd(6)}  ${name}`),
  ];
}

/** What does not hold, a block for each case, and a line that sums up. */
export function toLines(evaluation: EvaluationWithResults): readonly string[] {
  const { results, passed, total, failed, errors, version, status, error } = evaluation;
  const faulty = results.filter(({ outcome }) => outcome !== 'passed');
  const counts = `${passed} of ${total} passed, ${failed} failed, ${errors} without an answer`;
  const ending = status === 'completed' ? '' : `; the evaluation ${status === 'failed' ? `failed: ${error}` : `was ${status}`}`;
  return [
    ...faulty.flatMap((result) => [
      `${result.outcome === 'error' ? 'ERROR ' : 'FAILED'}  ${nameOfCase(result)}`,
      ...faultsOf(result),
    ]),
    `version ${version}: ${counts}${ending}`,
  ];
}

function faultsOf(result: ToldResult): readonly string[] {
  return reasonsOf(result).map((reason) => `        ${reason}`);
}

function reasonsOf({ error, verdicts }: ToldResult): readonly string[] {
  if (error !== null) return [`${error.message} (${error.code})`];
  return verdicts.filter(({ passed }) => !passed).map(({ check, reason }) => `${check.type}: ${reason}`);
}

/** Without times and ids: the same text for the same answers. */
export function toJsonReport(application: string, evaluation: EvaluationWithResults): string {
  const { version, status, total, passed, failed, errors, costUsd, digest, results } = evaluation;
  const cases = results.map((result) => ({
    name: nameOfCase(result),
    ...{ outcome: result.outcome, verdicts: result.verdicts, answer: result.answer, toolRuns: result.toolRuns },
    ...{ error: result.error, costUsd: result.costUsd },
  }));
  const report = { application, version, status, total, passed, failed, errors, costUsd, digest, cases };
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** As most programs that build and test read it. */
export function toJunit(
  application: string,
  { results, total, failed, errors, startedAt, endedAt }: EvaluationWithResults,
): string {
  const seconds = ((endedAt ?? startedAt) - startedAt) / 1000;
  const counts = `tests="${total}" failures="${failed}" errors="${errors}" skipped="${total - results.length}"`;
  const cases = results.map((result) => {
    const head = `    <testcase classname="${escaped(application)}" name="${escaped(nameOfCase(result))}" time="${result.durationMs / 1000}"`;
    if (result.outcome === 'passed') return `${head}/>`;
    const element = result.outcome === 'error' ? 'error' : 'failure';
    const [first = '', ...others] = reasonsOf(result);
    const told = `<${element} message="${escaped(first)}">${escaped([first, ...others].join('\n'))}</${element}>`;
    return `${head}>\n      ${told}\n      <system-out>${escaped(result.answer)}</system-out>\n    </testcase>`;
  });
  const suite = `  <testsuite name="${escaped(application)}" ${counts} time="${seconds}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', suite, ...cases, '  </testsuite>', '</testsuites>', ''].join(
    '\n',
  );
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;' };

/** XML 1.0 has no place for most control characters, nor for halves of pairs. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"\n]/g, (character) => entities[character] ?? character);
}

/** An evaluation as the service tells it. */
interface ToldEvaluation {
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

type ToldResult = Omit<CaseResult, 'costUsd'> & { readonly costUsd: number | null };
export type EvaluationWithResults = ToldEvaluation & { readonly results: readonly ToldResult[] };

/** What the service tells of two of them. */
interface ToldComparison {
  readonly better: number;
  readonly worse: number;
  readonly same: number;
  readonly otherAnswers: number;
  readonly cases: readonly { readonly name: string; readonly change: string }[];
}

const timeoutMs = 120_000;
const bounds = { maxDepth: 1000, maxNodes: Number.POSITIVE_INFINITY, allowsProto: true };

/** Evaluations of a running service. What it throws is an EvaluateFault. */
class EvaluationClient {
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

/** Why cases cannot be had, or put. The message may be shown. */
class EvaluateFault extends Error {
  override readonly name = 'EvaluateFault';
}

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  '.json': (text) => parsedValue(parseJsonc(text)),
  '.jsonc': (text) => parsedValue(parseJsonc(text)),
  '.yaml': (text) => parsedValue(parseYaml(text)),
  '.yml': (text) => parsedValue(parseYaml(text)),
  '.jsonl': linesOf,
  '.csv': casesOfCsv,
};

/** The cases of a file, whose name says what it is. Throws EvaluateFault. */
async function readCases(file: string): Promise<readonly EvaluationCase[]> {
  const read = readers[extname(file).toLowerCase()];
  if (read === undefined) throw new EvaluateFault(`${file}: must have a name that ends in ${Object.keys(readers).join(', ')}`);
  try {
    return parseCases(read((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')));
  } catch (thrown) {
    const isKnown =
      thrown instanceof EvaluateFault || thrown instanceof ParleyError || (thrown instanceof Error && 'syscall' in thrown);
    if (!isKnown) throw thrown;
    throw new EvaluateFault(`${file}: ${thrown.message}`, { cause: thrown });
  }
}

function parsedValue(parsed: ParsedText): unknown {
  if ('value' in parsed) return parsed.value;
  const [first] = parsed.faults;
  throw new EvaluateFault(`line ${first?.line}, column ${first?.column}: ${first?.message}`);
}

function linesOf(text: string): readonly unknown[] {
  return text.split('\n').flatMap((line, nth) => {
    if (line.trim() === '') return [];
    const value = tryParseJson(line);
    if (value === undefined) throw new EvaluateFault(`line ${nth + 1}: is not JSON`);
    return [value];
  });
}
