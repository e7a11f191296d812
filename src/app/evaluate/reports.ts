import { nameOfCase } from '#domain/evaluation/compare-results.ts';
import type { EvaluationWithResults, ToldResult } from './evaluation-client.ts';

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
