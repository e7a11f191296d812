import { filterObjects, isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';
import { encodePath, type Service } from '../../service/service.ts';
import { toPath } from '../applications.ts';

/** A stored case of an application. */
export interface TestCase {
  readonly id: string;
  readonly name: string;
  /** Start of the input, or of its last message. */
  readonly question: string;
  readonly checkCount: number;
  /** The case without its ID and times, as the user edits it. */
  readonly entry: JsonObject;
}

/** A run of the cases against one version. */
export interface Evaluation {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  readonly isRunning: boolean;
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  readonly startedAtMs: number;
  readonly error: string;
}

/** Result of one case. */
export interface CaseOutcome {
  readonly key: string;
  readonly name: string;
  readonly outcome: string;
  /** Reasons that the case did not pass. */
  readonly reasons: readonly string[];
  readonly answer: string;
  readonly durationMs: number;
}

/** A case in two evaluations. `before` or `after` is undefined if that evaluation does not contain it. */
export interface ComparedCase {
  readonly key: string;
  readonly name: string;
  readonly change: string;
  readonly before: CaseOutcome | undefined;
  readonly after: CaseOutcome | undefined;
}

const maxQuestionChars = 120;

export async function listCases(service: Service, id: string): Promise<readonly TestCase[]> {
  return getItems(await service.json(`v1/cases/${toPath(id)}`), 'data').map(toCase);
}

/** Adds one case or a list of cases. */
export async function addCases(service: Service, id: string, body: unknown): Promise<void> {
  await service.send(`v1/cases/${toPath(id)}`, { method: 'POST', body });
}

/** Adds the cases of a CSV table. */
export async function addCasesFromCsv(service: Service, id: string, text: string): Promise<void> {
  await service.send(`v1/cases/${toPath(id)}`, { method: 'POST', text, headers: { 'content-type': 'text/csv' } });
}

export async function replaceCase(service: Service, { id }: TestCase, body: unknown): Promise<void> {
  await service.send(`v1/cases/${encodePath(id)}`, { method: 'PUT', body });
}

export async function deleteCase(service: Service, { id }: TestCase): Promise<void> {
  await service.send(`v1/cases/${encodePath(id)}`, { method: 'DELETE' });
}

/** Lists the evaluations, the newest first. */
export async function listEvaluations(service: Service, id: string): Promise<readonly Evaluation[]> {
  return getItems(await service.json(`v1/evaluations/${toPath(id)}`), 'data').map(toEvaluation);
}

export async function startEvaluation(service: Service, id: string, body: { readonly version?: number }): Promise<void> {
  await service.send(`v1/evaluations/${toPath(id)}`, { method: 'POST', body });
}

export async function cancelEvaluation(service: Service, id: string): Promise<void> {
  await service.send(`v1/evaluations/${encodePath(id)}/cancel`, { method: 'POST' });
}

export async function readResults(service: Service, id: string): Promise<readonly CaseOutcome[]> {
  return getItems(await service.json(`v1/evaluations/${encodePath(id)}`), 'results').map((result, index) => {
    const caseEntry = toObject(result.case);
    return toOutcome(result, toText(caseEntry.name) || getQuestion(caseEntry), String(index));
  });
}

export async function compareEvaluations(service: Service, before: string, after: string): Promise<readonly ComparedCase[]> {
  const answer = await service.json(`v1/evaluations/${encodePath(after)}/comparison?with=${encodeURIComponent(before)}`);
  return getItems(answer, 'cases').map(({ name, change, before: first, after: second }, index) => {
    const toSide = (value: unknown) => (isJsonObject(value) ? toOutcome(value, toText(name), String(index)) : undefined);
    return { key: String(index), name: toText(name), change: toText(change), before: toSide(first), after: toSide(second) };
  });
}

function toCase({ id, createdAt: _createdAt, updatedAt: _updatedAt, ...entry }: JsonObject): TestCase {
  const checkCount = Array.isArray(entry.checks) ? entry.checks.length : 0;
  return { id: toText(id), name: toText(entry.name), question: getQuestion(entry), checkCount, entry };
}

function toEvaluation(item: JsonObject): Evaluation {
  const { id, status, version, total, passed, failed, errors, startedAt, error } = item;
  const counts = { total: Number(total), passed: Number(passed), failed: Number(failed), errors: Number(errors) };
  const fields = { id: toText(id), status: toText(status), error: toText(error), isRunning: status === 'in_progress' };
  return { ...fields, ...counts, version: Number(version), startedAtMs: Number(startedAt) };
}

function toOutcome({ outcome, verdicts, answer, error, durationMs }: JsonObject, name: string, key: string): CaseOutcome {
  const verdictItems = filterObjects(verdicts);
  const failedReasons = verdictItems.filter(({ passed }) => passed === false).map(({ reason }) => toText(reason));
  const reasons = isJsonObject(error) ? [toText(error.message)] : failedReasons;
  return { key, name, outcome: toText(outcome), reasons, answer: toText(answer), durationMs: Number(durationMs) };
}

/** Returns the start of the input, or of its last message. */
function getQuestion({ input }: JsonObject): string {
  const last: unknown = Array.isArray(input) ? input.at(-1) : undefined;
  const text = typeof input === 'string' ? input : isJsonObject(last) ? toText(last.content) : '';
  return text.slice(0, maxQuestionChars);
}

function getItems(answer: unknown, key: string): readonly JsonObject[] {
  return filterObjects(toObject(answer)[key]);
}
