import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { ParleyError, toParleyError } from '#contract/errors.ts';
import type { EvaluationCase, EvaluationCheck } from '#contract/evaluation/evaluation-case.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { CaseResult, Verdict } from '#domain/evaluation/evaluation.ts';
import { usdOf } from '#domain/quick-app/application-trace.ts';
import { AskFault, askPatiently } from './ask-patiently.ts';
import { type CheckedReply, checkReply, type PlainCheck } from './check-reply.ts';
import type { CaseDeps } from './evaluation-deps.ts';
import { judgeReply } from './judge-reply.ts';
import { toolRunsOf } from './tool-runs.ts';

/** A case, and the application that it is put to. */
export interface CaseRun {
  readonly case: EvaluationCase;
  readonly caller: Caller;
  readonly deployment: string;
  readonly version: number;
  readonly signal: AbortSignal;
}

/** What becomes of a case, but for its place. */
export type RanCase = Omit<CaseResult, 'nth' | 'caseId'>;

const longestAnswer = 100_000;
const longestTrace = 64_000;

/** Asks the application and looks at what it gave. Throws the signal's reason if that is aborted. */
export async function runCase(deps: CaseDeps, run: CaseRun): Promise<RanCase> {
  const { case: asked, caller, deployment, version, signal } = run;
  const { caseTimeoutMs } = deps.snapshot().configuration.evaluations;
  const timeout = AbortSignal.timeout(caseTimeoutMs);
  const within = AbortSignal.any([signal, timeout]);
  const { input } = asked;
  const messages = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : [...input];
  try {
    const asking = { deployment, version, caller, wantsTrace: true, request: { messages }, signal: within };
    const { completion, usage, durationMs } = await askPatiently(deps, asking);
    const message = completion.choices[0]?.message ?? { role: 'assistant' };
    const items = traceOf(message);
    const reply = {
      answer: message.content ?? '',
      toolRuns: toolRunsOf(message, items),
      costUsd: costOf(deps, usage),
      durationMs,
    };
    const verdicts = await judgeAll(deps, { ...run, signal: within }, reply);
    const outcome = verdicts.every(({ passed }) => passed) ? 'passed' : 'failed';
    const kept = { ...reply, answer: reply.answer.slice(0, longestAnswer), trace: firstOf(items) };
    return { case: asked, outcome, verdicts, error: null, usage, ...kept };
  } catch (thrown) {
    signal.throwIfAborted();
    return toError(asked, thrown, { deps, timeout, caseTimeoutMs });
  }
}

interface Failing {
  readonly deps: CaseDeps;
  readonly timeout: AbortSignal;
  readonly caseTimeoutMs: number;
}

function toError(asked: EvaluationCase, thrown: unknown, { deps, timeout, caseTimeoutMs }: Failing): RanCase {
  const isLate = timeout.aborted;
  const late = new ParleyError('upstream_failed', `The answer took more than ${caseTimeoutMs} ms.`);
  const { shownCode, code, message } = isLate ? late : toParleyError(thrown instanceof AskFault ? thrown.cause : thrown);
  const { usage, durationMs } = thrown instanceof AskFault ? thrown : { usage: [], durationMs: isLate ? caseTimeoutMs : 0 };
  const nothing = { verdicts: [], answer: '', toolRuns: [], trace: [] };
  const error = { code: shownCode ?? code, message };
  return { case: asked, outcome: 'error', ...nothing, error, usage, costUsd: costOf(deps, usage), durationMs };
}

async function judgeAll(
  deps: CaseDeps,
  { case: asked, caller, signal }: CaseRun,
  reply: CheckedReply,
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const check of asked.checks) {
    const judging = { caller, input: asked.input, answer: reply.answer, signal };
    verdicts.push(isPlain(check) ? checkReply(check, reply) : await judgeReply(deps, { check, ...judging }));
  }
  return verdicts;
}

function isPlain(check: EvaluationCheck): check is PlainCheck {
  return check.type !== 'judged';
}

function costOf({ snapshot }: CaseDeps, usage: RanCase['usage']): number | undefined {
  return usage.length === 0 ? 0 : usdOf(snapshot(), usage);
}

function traceOf({ custom_content: content }: { readonly custom_content?: unknown }): readonly JsonObject[] {
  const trace = isJsonObject(content) ? content.trace : undefined;
  return Array.isArray(trace) ? trace.filter(isJsonObject) : [];
}

/** The items that there is room for. */
function firstOf(items: readonly JsonObject[]): readonly JsonObject[] {
  let chars = 0;
  const end = items.findIndex((item) => {
    chars += JSON.stringify(item).length;
    return chars > longestTrace;
  });
  return end === -1 ? items : items.slice(0, end);
}
