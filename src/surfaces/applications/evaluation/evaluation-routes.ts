import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { type EvaluationRequest, parseEvaluationRequest } from '#contract/evaluation/parse-cases.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { createApplicationNotFoundError } from '#domain/deployments/application-location.ts';
import { toPublicId } from '#domain/deployments/application-store.ts';
import { type ComparedCase, compareResults } from '#domain/evaluation/compare-results.ts';
import type { CaseResult, Evaluation } from '#domain/evaluation/evaluation.ts';
import type { EvaluationStart } from '#services/evaluation/evaluation-runs.ts';
import { parseBody, readBody, requireJson } from '../../http/read-request.ts';
import { LargeReplies } from '../../http/replies/send-json.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { findApplication, getQuery, identifyBuilder, identifyOwner, versionNotFound } from '../application-access.ts';
import { type EvaluationDeps, ownsApplication, rejectLargeCases } from './case-routes.ts';

const base = '/v1/evaluations/applications/';

/**
 * Serves `/v1/evaluations/applications/{bucket}/{path}`, the evaluations of an application, and `/v1/evaluations/{evaluation}`, a
 * single evaluation. Both are only for the owner.
 */
export function evaluationRoutes(app: FastifyInstance, deps: EvaluationDeps): void {
  const evaluationPath = '/v1/evaluations/:evaluation';
  serveEarly(app, { method: 'GET', url: `${base}*` }, (request) => list(deps, request));
  serveEarly(app, { method: 'POST', url: `${base}*` }, (request, reply) => start(deps, request, reply));
  const replies = new LargeReplies();
  const send = async (request: FastifyRequest, reply: FastifyReply, read: typeof show): Promise<FastifyReply> => {
    const { evaluation, subject } = await findOwn(deps, request);
    return replies.send(subject, reply, () => read(deps, request, evaluation));
  };
  app.get(evaluationPath, (request, reply) => send(request, reply, show));
  app.get(`${evaluationPath}/comparison`, (request, reply) => send(request, reply, compare));
  serveEarly(app, { method: 'POST', url: `${evaluationPath}/cancel` }, (request) => cancel(deps, request));
}

async function list(deps: EvaluationDeps, request: FastifyRequest): Promise<unknown> {
  const { location } = await identifyOwner(deps, base, request);
  await findApplication(deps, location);
  return { object: 'list', data: (await deps.results.list(location.id)).map(toEvaluationItem) };
}

async function start(deps: EvaluationDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { caller, location } = await identifyOwner(deps, base, request);
  const evaluationRequest = await readRequest(deps, request);
  const evaluation = await deps.evaluations.start(await toStart(deps, caller, location.id, evaluationRequest));
  const details = { evaluation: evaluation.id, version: evaluation.version };
  deps.recordAudit({
    action: 'application.evaluated',
    subject: caller.subject,
    object: location.id,
    requestId: request.id,
    details,
  });
  reply.code(202);
  return toEvaluationItem(evaluation);
}

async function toStart(
  { store, results }: EvaluationDeps,
  caller: Caller,
  id: string,
  request: EvaluationRequest,
): Promise<EvaluationStart> {
  const versions = await store.listVersions(id);
  const { version = versions[0]?.version, parallel, cases } = request;
  const stored = version === undefined ? undefined : await store.findVersion(id, version);
  if (versions.length === 0 || version === undefined) throw createApplicationNotFoundError();
  if (stored === undefined) throw versionNotFound(version);
  const evaluationCases = cases?.map((item) => ({ id: null, case: item })) ?? (await results.cases.list(id));
  if (evaluationCases.length === 0)
    throw new ParleyError('invalid_request', 'The application has no cases. Add cases, or send them in cases.', {
      param: 'cases',
    });
  return { caller, application: id, publicId: toPublicId(stored), version, parallel, cases: evaluationCases };
}

/** The body is optional. */
async function readRequest(deps: EvaluationDeps, { raw }: FastifyRequest): Promise<EvaluationRequest> {
  const bytes = await readBody(raw, rejectLargeCases(deps, raw));
  if (bytes.length === 0) return {};
  requireJson(raw);
  return parseEvaluationRequest(parseBody(bytes));
}

async function show(deps: EvaluationDeps, request: FastifyRequest, evaluation: Evaluation): Promise<object> {
  const summary = toEvaluationItem(evaluation);
  if (getQuery(request).get('results') === 'false') return summary;
  const results = await deps.results.listResults(evaluation.id);
  return { ...summary, results: results.map((result) => ({ ...result, costUsd: result.costUsd ?? null })) };
}

async function compare(deps: EvaluationDeps, request: FastifyRequest, after: Evaluation): Promise<object> {
  const comparedId = getQuery(request).get('with');
  if (comparedId === null) throw createRequestError('with', 'is required. Set it to the ID of an evaluation to compare with');
  const before = await deps.results.find(comparedId);
  if (before === undefined || before.application !== after.application) throw evaluationNotFound();
  const [beforeResults, afterResults] = [await deps.results.listResults(before.id), await deps.results.listResults(after.id)];
  return toComparisonItem({ evaluation: before, results: beforeResults }, { evaluation: after, results: afterResults });
}

async function cancel(deps: EvaluationDeps, request: FastifyRequest): Promise<unknown> {
  const { evaluation } = await findOwn(deps, request);
  await deps.evaluations.cancel(evaluation.id);
  const canceled = await deps.results.find(evaluation.id);
  if (canceled === undefined) throw evaluationNotFound();
  return toEvaluationItem(canceled);
}

/** Throws `evaluation_not_found` also for an evaluation of another user, so that the error does not reveal that it exists. */
async function findOwn(
  deps: EvaluationDeps,
  request: FastifyRequest,
): Promise<{ readonly evaluation: Evaluation; readonly subject: string }> {
  const caller = await identifyBuilder(deps, request);
  const evaluation = await deps.results.find((request.params as { evaluation: string }).evaluation);
  if (evaluation === undefined || !ownsApplication(caller, evaluation.application)) throw evaluationNotFound();
  return { evaluation, subject: caller.subject };
}

function evaluationNotFound(): ParleyError {
  return new ParleyError(
    'evaluation_not_found',
    'You have no evaluation with this ID. Newer evaluations replace the oldest ones.',
  );
}

function toEvaluationItem({ id, version, status, total, tally, digest, error, costUsd, ...times }: Evaluation): object {
  return {
    ...{ id, version, status, total, ...tally },
    startedAt: times.startedAtMs,
    endedAt: times.endedAtMs ?? null,
    costUsd: costUsd ?? null,
    digest: digest ?? null,
    error: error ?? null,
  };
}

interface EvaluationWithResults {
  readonly evaluation: Evaluation;
  readonly results: readonly CaseResult[];
}

function toComparisonItem(before: EvaluationWithResults, after: EvaluationWithResults): object {
  const cases = compareResults(before.results, after.results);
  const count = (change: ComparedCase['change']): number => cases.filter((item) => item.change === change).length;
  return {
    before: toEvaluationItem(before.evaluation),
    after: toEvaluationItem(after.evaluation),
    ...{ better: count('better'), worse: count('worse'), same: count('same'), new: count('new'), gone: count('gone') },
    otherAnswers: cases.filter((item) => item.before && item.after && !item.isSameAnswer).length,
    cases: cases.map((item) => ({ ...item, before: toComparedResult(item.before), after: toComparedResult(item.after) })),
  };
}

function toComparedResult(result: CaseResult | undefined): object | null {
  if (result === undefined) return null;
  const { outcome, verdicts, answer, error, costUsd, durationMs } = result;
  return { outcome, verdicts, answer, error, costUsd: costUsd ?? null, durationMs };
}
