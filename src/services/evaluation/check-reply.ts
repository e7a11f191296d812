import { isJsonObject } from '#base/json/json.ts';
import { PatternError, withPatterns } from '#base/text/patterns.ts';
import { truncate } from '#base/text/shorten.ts';
import type { EvaluationCheck } from '#contract/evaluation/evaluation-case.ts';
import type { CaseResult, Verdict } from '#domain/evaluation/evaluation.ts';
import { readAnswer } from '#domain/structured-answer.ts';

/** What the application gave. */
export type CheckedReply = Pick<CaseResult, 'answer' | 'toolRuns' | 'costUsd' | 'durationMs'>;
/** A check that needs nobody to be asked. */
export type PlainCheck = Exclude<EvaluationCheck, { readonly type: 'judged' }>;

const longestShown = 200;

/** Whether one thing holds of a reply, and why. */
export function checkReply(check: PlainCheck, reply: CheckedReply): Verdict {
  const fault = faultOf(check, reply);
  return { check, passed: fault === undefined, reason: fault ?? told[check.type] };
}

const told: Readonly<Record<PlainCheck['type'], string>> = {
  contains: 'The answer has the text in it.',
  equals: 'The answer is the text.',
  matches: 'The pattern is found in the answer.',
  json_schema: 'The answer follows the schema.',
  calls: 'The tool was called so.',
  does_not_call: 'The tool was not called.',
  cost_at_most: 'The answer cost no more.',
  time_at_most: 'The answer took no longer.',
};

/** Why it does not hold, as a sentence; undefined if it does. */
function faultOf(check: PlainCheck, { answer, toolRuns, costUsd, durationMs }: CheckedReply): string | undefined {
  switch (check.type) {
    case 'contains':
      return has(answer, check) ? undefined : `The answer does not have ${shown(check.text)} in it; it is ${shown(answer)}.`;
    case 'equals':
      return answer.trim() === check.text.trim() ? undefined : `The answer is ${shown(answer)}, not ${shown(check.text)}.`;
    case 'matches':
      return patternFault(check.pattern, answer);
    case 'json_schema': {
      const read = readAnswer(answer, { schema: check.schema });
      return 'fault' in read ? `The answer does not follow the schema: ${read.fault}.` : undefined;
    }
    case 'calls':
      return callFault(check, toolRuns);
    case 'does_not_call':
      return toolRuns.some(({ tool }) => tool === check.tool) ? `${check.tool} was called.` : undefined;
    case 'cost_at_most':
      if (costUsd === undefined) return 'The cost is not known: a model that was asked has no price.';
      return costUsd <= check.usd ? undefined : `The answer cost ${usd(costUsd)}, more than ${usd(check.usd)}.`;
    case 'time_at_most':
      return durationMs <= check.seconds * 1000
        ? undefined
        : `The answer took ${(durationMs / 1000).toFixed(2)} s, longer than ${check.seconds} s.`;
  }
}

function has(answer: string, { text, ignoreCase = false }: Extract<PlainCheck, { type: 'contains' }>): boolean {
  return ignoreCase ? answer.toLowerCase().includes(text.toLowerCase()) : answer.includes(text);
}

function patternFault(pattern: string, answer: string): string | undefined {
  let isFound: boolean;
  try {
    isFound = withPatterns((patterns) => patterns.isFound(patterns.compile(pattern), answer));
  } catch (error) {
    if (error instanceof PatternError) return `The pattern ${shown(pattern)} cannot be used: ${error.message}.`;
    throw error;
  }
  return isFound ? undefined : `The pattern ${shown(pattern)} is not found in the answer, which is ${shown(answer)}.`;
}

function callFault({ tool, arguments: wanted }: Extract<PlainCheck, { type: 'calls' }>, runs: CheckedReply['toolRuns']) {
  const calls = runs.filter((run) => run.tool === tool);
  if (calls.some((run) => wanted === undefined || covers(run.arguments, wanted))) return undefined;
  const [first] = calls;
  if (first !== undefined)
    return `${tool} was called with ${truncate(JSON.stringify(first.arguments), longestShown)}, not with ${truncate(JSON.stringify(wanted), longestShown)}.`;
  const others = [...new Set(runs.map((run) => run.tool))];
  return `${tool} was not called; ${others.length === 0 ? 'no tool was' : `only ${others.join(', ').slice(0, longestShown)}`}.`;
}

/** Whether a value has all that is wanted: objects may have more members, anything else is the same. */
function covers(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return Array.isArray(value) && value.length === wanted.length && wanted.every((item, nth) => covers(value[nth], item));
  if (!isJsonObject(wanted)) return value === wanted;
  return (
    isJsonObject(value) &&
    Object.entries(wanted).every(([key, member]) => Object.hasOwn(value, key) && covers(value[key], member))
  );
}

function shown(text: string): string {
  if (text === '') return 'empty';
  return JSON.stringify(truncate(text, longestShown));
}

function usd(amount: number): string {
  return `$${Number(amount.toPrecision(6))}`;
}
