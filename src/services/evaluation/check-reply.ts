import { isJsonObject } from '#base/json/json.ts';
import { findText } from '#base/text/find-text.ts';
import { PatternError, withPatterns } from '#base/text/patterns.ts';
import { truncate } from '#base/text/truncate.ts';
import type { EvaluationCheck } from '#contract/evaluation/evaluation-case.ts';
import { parseAnswer } from '#domain/calls/parse-answer.ts';
import type { CaseResult, Verdict } from '#domain/evaluation/evaluation.ts';

/** Reply of the application, with its tool runs, cost, and duration. */
export type CheckedReply = Pick<CaseResult, 'answer' | 'toolRuns' | 'costUsd' | 'durationMs'>;
/** A check that does not call a deployment. */
export type PlainCheck = Exclude<EvaluationCheck, { readonly type: 'judged' }>;

const maxDisplayedChars = 200;
/** Maximum number of characters of the reason of a verdict. */
export const maxReasonChars = 2000;

/** Returns whether a check passes for a reply, with the reason. */
export function checkReply(check: PlainCheck, reply: CheckedReply): Verdict {
  const failure = findFailure(check, reply);
  return { check, passed: failure === undefined, reason: truncate(failure ?? passedReasons[check.type], maxReasonChars) };
}

const passedReasons: Readonly<Record<PlainCheck['type'], string>> = {
  contains: 'The answer contains the text.',
  equals: 'The answer equals the text.',
  matches: 'The answer matches the pattern.',
  json_schema: 'The answer matches the schema.',
  calls: 'The tool was called as expected.',
  does_not_call: 'The tool was not called.',
  cost_at_most: 'The cost is within the limit.',
  time_at_most: 'The duration is within the limit.',
};

/** Returns the reason for a failure as a sentence, or undefined if the check passes. */
function findFailure(check: PlainCheck, { answer, toolRuns, costUsd, durationMs }: CheckedReply): string | undefined {
  switch (check.type) {
    case 'contains':
      return includesText(answer, check)
        ? undefined
        : `The answer does not contain ${quote(check.text)}. It is ${quote(answer)}.`;
    case 'equals':
      return answer.trim() === check.text.trim() ? undefined : `The answer is ${quote(answer)}, not ${quote(check.text)}.`;
    case 'matches':
      return findPatternFailure(check.pattern, answer);
    case 'json_schema': {
      const parsed = parseAnswer(answer, { schema: check.schema });
      return 'error' in parsed ? `The answer does not match the schema: ${parsed.error}.` : undefined;
    }
    case 'calls':
      return findCallFailure(check, toolRuns);
    case 'does_not_call':
      return toolRuns.some(({ tool }) => tool === check.tool) ? `${check.tool} was called.` : undefined;
    case 'cost_at_most':
      if (costUsd === undefined) return 'The cost is unknown, because a model that was used has no price.';
      return costUsd <= check.usd ? undefined : `The answer cost ${formatUsd(costUsd)}, more than ${formatUsd(check.usd)}.`;
    case 'time_at_most':
      return durationMs <= check.seconds * 1000
        ? undefined
        : `The answer took ${(durationMs / 1000).toFixed(2)} s, longer than ${check.seconds} s.`;
  }
}

function includesText(answer: string, { text, ignoreCase = false }: Extract<PlainCheck, { type: 'contains' }>): boolean {
  return ignoreCase ? findText(answer.toLowerCase(), text.toLowerCase()) !== -1 : findText(answer, text) !== -1;
}

function findPatternFailure(pattern: string, answer: string): string | undefined {
  let isFound: boolean;
  try {
    isFound = withPatterns((patterns) => patterns.isFound(patterns.compile(pattern), answer));
  } catch (error) {
    if (error instanceof PatternError) return `The pattern ${quote(pattern)} cannot be used: ${error.message}.`;
    throw error;
  }
  return isFound ? undefined : `The answer does not match the pattern ${quote(pattern)}. It is ${quote(answer)}.`;
}

function findCallFailure({ tool, arguments: expected }: Extract<PlainCheck, { type: 'calls' }>, runs: CheckedReply['toolRuns']) {
  const calls = runs.filter((run) => run.tool === tool);
  if (calls.some((run) => expected === undefined || covers(run.arguments, expected))) return undefined;
  const [first] = calls;
  if (first !== undefined)
    return `${tool} was called with ${truncate(JSON.stringify(first.arguments), maxDisplayedChars)}, not with ${truncate(JSON.stringify(expected), maxDisplayedChars)}.`;
  const otherTools = [...new Set(runs.map((run) => run.tool))];
  return `${tool} was not called. ${otherTools.length === 0 ? 'No tool was called' : `Called tools: ${otherTools.join(', ').slice(0, maxDisplayedChars)}`}.`;
}

/** Returns whether a value contains the expected value. Objects may have more members. All other values must be equal. */
function covers(value: unknown, expected: unknown): boolean {
  if (Array.isArray(expected))
    return (
      Array.isArray(value) && value.length === expected.length && expected.every((item, index) => covers(value[index], item))
    );
  if (!isJsonObject(expected)) return value === expected;
  return (
    isJsonObject(value) &&
    Object.entries(expected).every(([key, member]) => Object.hasOwn(value, key) && covers(value[key], member))
  );
}

function quote(text: string): string {
  if (text === '') return 'empty';
  return JSON.stringify(truncate(text, maxDisplayedChars));
}

function formatUsd(amount: number): string {
  return `$${Number(amount.toPrecision(6))}`;
}
