import { readFile, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { tryParseJson } from '#base/json/json.ts';
import { parseJsonc } from '#configuration/parse-jsonc.ts';
import { parseYaml } from '#configuration/parse-yaml.ts';
import type { ParsedText } from '#configuration/parsed-text.ts';
import { isHttpUrl } from '#contract/configuration/values.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { EvaluationCase } from '#contract/evaluation/evaluation-case.ts';
import { type EvaluationRequest, parseCases, parseCsvCases } from '#contract/evaluation/parse-cases.ts';
import { getCaseName } from '#domain/evaluation/compare-results.ts';
import type { CaseResult } from '#domain/evaluation/evaluation.ts';
import { defaultUrl } from '../command-options.ts';
import { formatMessage, ServiceClient, ServiceClientError } from '../service-client.ts';
import type { EvaluateFlags } from './evaluate-flags.ts';

/** Dependencies of `parley evaluate`. */
export interface EvaluateDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
  /** Writes text to stderr. */
  readonly writeProgress: (text: string) => void;
  /** Writes a line to stdout. */
  readonly show: (line: string) => void;
  /** Called with the function that cancels the evaluation, to be run when the user interrupts the command. */
  readonly onInterrupt: (cancel: () => Promise<void>) => void;
}

const pollIntervalMs = 250;
type EvaluationContext = Omit<EvaluateDeps, 'environment' | 'show'> & { readonly client: EvaluationClient };

/** Runs `parley evaluate`. Returns the exit code. */
export async function evaluateCommand(flags: EvaluateFlags, deps: EvaluateDeps): Promise<0 | 1 | 2> {
  try {
    return await evaluate(flags, deps);
  } catch (error) {
    if (!isExpectedError(error)) throw error;
    deps.writeProgress(`parley: ${formatMessage(error)}\n`);
    return 2;
  }
}

async function evaluate(flags: EvaluateFlags, { environment, show, ...terminal }: EvaluateDeps): Promise<0 | 1> {
  const { url = environment.PARLEY_URL || defaultUrl, key = environment.PARLEY_KEY, version, against, parallel } = flags;
  if (!isHttpUrl(url)) throw new EvaluateError('PARLEY_URL must be a URL, such as http://127.0.0.1:8080');
  const cases = flags.cases === undefined ? undefined : await readCases(flags.cases);
  const keySource = flags.key === undefined ? 'PARLEY_KEY' : '--key';
  const service = new ServiceClient({
    base: new URL(url),
    key,
    retrySuggestion: 'Check the address, and run the command again',
    getSuggestion: (status) => (status === 401 ? `Check the key in ${keySource}` : undefined),
  });
  const client = new EvaluationClient(service);
  const applicationPath = await client.resolvePath(flags.application);
  const request = { ...(cases && { cases }), ...(parallel !== undefined && { parallel }) };
  const context = { ...terminal, client };
  const before = against === undefined ? undefined : await run(context, applicationPath, { ...request, version: against });
  const evaluation = await run(context, applicationPath, { ...request, ...(version !== undefined && { version }) });
  for (const line of toLines(evaluation)) show(line);
  if (before !== undefined)
    for (const line of formatComparison(before.version, await client.compare(before.id, evaluation.id))) show(line);
  if (flags.json !== undefined) await writeFile(flags.json, toJsonReport(`applications/${applicationPath}`, evaluation));
  if (flags.junit !== undefined) await writeFile(flags.junit, toJunit(`applications/${applicationPath}`, evaluation));
  return evaluation.status === 'completed' && evaluation.passed === evaluation.total ? 0 : 1;
}

async function run(
  { client, isTerminal, writeProgress, onInterrupt }: EvaluationContext,
  applicationPath: string,
  request: Parameters<EvaluationClient['start']>[1],
): Promise<EvaluationWithResults> {
  const { id, version, total } = await client.start(applicationPath, request);
  onInterrupt(() => client.cancel(id));
  for (;;) {
    const { status, passed, failed, errors } = await client.getProgress(id);
    const hasEnded = status !== 'in_progress';
    if (isTerminal || hasEnded)
      writeProgress(
        `${isTerminal ? '\r' : ''}version ${version}: ${passed + failed + errors} of ${total} cases${hasEnded ? '\n' : ''}`,
      );
    if (hasEnded) return client.getResults(id);
    await wait(pollIntervalMs);
  }
}

function formatComparison(before: number, { better, worse, same, otherAnswers, cases }: ReportedComparison): readonly string[] {
  const changed = cases.filter(({ change }) => change === 'better' || change === 'worse');
  return [
    `against version ${before}: ${better} better, ${worse} worse, ${same} unchanged, ${otherAnswers} with a different answer`,
    ...changed.map(({ name, change }) => `${change.toUpperCase().padEnd(6)}  ${name}`),
  ];
}

/** Returns the reasons of each case that did not pass, and a summary line. */
export function toLines(evaluation: EvaluationWithResults): readonly string[] {
  const { results, passed, total, failed, errors, version, status, error } = evaluation;
  const notPassed = results.filter(({ outcome }) => outcome !== 'passed');
  const counts = `${passed} of ${total} passed, ${failed} failed, ${errors} without an answer`;
  const ending = status === 'completed' ? '' : `. The evaluation ${status === 'failed' ? `failed: ${error}` : `was ${status}`}`;
  return [
    ...notPassed.flatMap((result) => [
      `${result.outcome === 'error' ? 'ERROR ' : 'FAILED'}  ${getCaseName(result)}`,
      ...listReasons(result).map((reason) => `        ${reason}`),
    ]),
    `version ${version}: ${counts}${ending}`,
  ];
}

function listReasons({ error, verdicts }: ReportedResult): readonly string[] {
  if (error !== null) return [`${error.message} (${error.code})`];
  return verdicts.filter(({ passed }) => !passed).map(({ check, reason }) => `${check.type}: ${reason}`);
}

/** Returns a JSON report without times and IDs, so that equal answers give equal reports. */
export function toJsonReport(application: string, evaluation: EvaluationWithResults): string {
  const { version, status, total, passed, failed, errors, costUsd, digest, results } = evaluation;
  const cases = results.map((result) => ({
    name: getCaseName(result),
    outcome: result.outcome,
    verdicts: result.verdicts,
    answer: result.answer,
    toolRuns: result.toolRuns,
    error: result.error,
    costUsd: result.costUsd,
  }));
  const report = { application, version, status, total, passed, failed, errors, costUsd, digest, cases };
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** Returns a report in the JUnit XML format, which most CI systems read. */
export function toJunit(
  application: string,
  { results, total, failed, errors, startedAt, endedAt }: EvaluationWithResults,
): string {
  const seconds = ((endedAt ?? startedAt) - startedAt) / 1000;
  const counts = `tests="${total}" failures="${failed}" errors="${errors}" skipped="${total - results.length}"`;
  const cases = results.map((result) => {
    const head = `    <testcase classname="${escapeXml(application)}" name="${escapeXml(getCaseName(result))}" time="${result.durationMs / 1000}"`;
    if (result.outcome === 'passed') return `${head}/>`;
    const element = result.outcome === 'error' ? 'error' : 'failure';
    const [first = '', ...otherReasons] = listReasons(result);
    const childElement = `<${element} message="${escapeXml(first)}">${escapeXml([first, ...otherReasons].join('\n'))}</${element}>`;
    return `${head}>\n      ${childElement}\n      <system-out>${escapeXml(result.answer)}</system-out>\n    </testcase>`;
  });
  const suite = `  <testsuite name="${escapeXml(application)}" ${counts} time="${seconds}">`;
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', suite, ...cases, '  </testsuite>', '</testsuites>'];
  return `${lines.join('\n')}\n`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;' };

/** Escapes text for XML 1.0. Replaces control characters and unpaired surrogates that XML does not allow. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"\n]/g, (character) => entities[character] ?? character);
}

/** Evaluation as the service returns it. */
interface ReportedEvaluation {
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

type ReportedResult = Omit<CaseResult, 'costUsd'> & { readonly costUsd: number | null };
export type EvaluationWithResults = ReportedEvaluation & { readonly results: readonly ReportedResult[] };

/** Comparison as the service returns it. */
interface ReportedComparison {
  readonly better: number;
  readonly worse: number;
  readonly same: number;
  readonly otherAnswers: number;
  readonly cases: readonly { readonly name: string; readonly change: string }[];
}

/** Client for the evaluation endpoints of a running service. Throws ServiceClientError. */
class EvaluationClient {
  readonly #client: ServiceClient;

  constructor(client: ServiceClient) {
    this.#client = client;
  }

  /** Returns `BUCKET/PATH` of an application, percent-encoded. */
  async resolvePath(application: string): Promise<string> {
    // Pattern bound: a command-line argument, which only slows down this command.
    const fullPath = /^applications\/(.+\/.+)$/.exec(application)?.[1];
    if (fullPath !== undefined) return fullPath;
    const { bucket } = await this.#client.send<{ readonly bucket: string }>('GET', 'v1/bucket');
    return `${bucket}/${application}`;
  }

  async start(applicationPath: string, request: EvaluationRequest): Promise<ReportedEvaluation> {
    return this.#client.send('POST', `v1/evaluations/applications/${applicationPath}`, { body: request });
  }

  async getProgress(id: string): Promise<ReportedEvaluation> {
    return this.#client.send('GET', `v1/evaluations/${id}`, { query: 'results=false' });
  }

  async getResults(id: string): Promise<EvaluationWithResults> {
    return this.#client.send('GET', `v1/evaluations/${id}`);
  }

  async compare(before: string, after: string): Promise<ReportedComparison> {
    return this.#client.send('GET', `v1/evaluations/${after}/comparison`, { query: `with=${before}` });
  }

  async cancel(id: string): Promise<void> {
    await this.#client.send('POST', `v1/evaluations/${id}/cancel`);
  }
}

/** The arguments or the cases are invalid. The message is for the user. */
class EvaluateError extends Error {
  override readonly name = 'EvaluateError';
}

/** Returns whether an error is from this command, the service, or the file system. */
function isExpectedError(error: unknown): error is Error {
  return error instanceof EvaluateError || error instanceof ServiceClientError || (error instanceof Error && 'syscall' in error);
}

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  '.json': (text) => requireValue(parseJsonc(text)),
  '.jsonc': (text) => requireValue(parseJsonc(text)),
  '.yaml': (text) => requireValue(parseYaml(text)),
  '.yml': (text) => requireValue(parseYaml(text)),
  '.jsonl': parseJsonLines,
  '.csv': parseCsvCases,
};

/** Reads the cases from a file. The extension determines the format. Throws EvaluateError. */
async function readCases(file: string): Promise<readonly EvaluationCase[]> {
  const reader = readers[extname(file).toLowerCase()];
  if (reader === undefined) throw new EvaluateError(`${file}: the file name must end in ${Object.keys(readers).join(', ')}`);
  try {
    return parseCases(reader((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')));
  } catch (error) {
    const isKnown = error instanceof ParleyError || isExpectedError(error);
    if (!isKnown) throw error;
    throw new EvaluateError(`${file}: ${error.message}`, { cause: error });
  }
}

function requireValue(parsed: ParsedText): unknown {
  if ('value' in parsed) return parsed.value;
  const [first] = parsed.errors;
  throw new EvaluateError(`line ${first?.line}, column ${first?.column}: ${first?.message}`);
}

function parseJsonLines(text: string): readonly unknown[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const value = tryParseJson(line);
    if (value === undefined) throw new EvaluateError(`line ${index + 1}: is not JSON`);
    return [value];
  });
}
