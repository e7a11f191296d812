import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '#contract/errors/errors.ts';
import { requestFault } from '#contract/errors/request-error.ts';
import { type EvaluationRequest, parseEvaluationRequest } from '#contract/evaluation/evaluation-request.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { shownId } from '#domain/deployments/application-store.ts';
import type { Evaluation } from '#domain/evaluation/evaluation.ts';
import type { EvaluationStart } from '#services/evaluation/evaluation-run.ts';
import { parseBody, readBody, requireJson } from '../../http/read-request.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import type { EvaluationDeps } from '../application-deps.ts';
import { identifyUser, isOwner, notFound, openOwn } from '../who-may.ts';
import { bucketIn, refuseLargeCases } from './case-routes.ts';
import { toShownComparison, toShownEvaluation, toShownResult } from './to-shown.ts';

const base = '/v1/evaluations/applications/';

/** `/v1/evaluations/applications/{bucket}/{path}`: evaluations of an application, for its owner, and `/v1/evaluations/{evaluation}`, one of them. */
export function evaluationRoutes(app: FastifyInstance, deps: EvaluationDeps): void {
  const one = '/v1/evaluations/:evaluation';
  serveEarly(app, { method: 'GET', url: `${base}*` }, (request) => list(deps, request));
  serveEarly(app, { method: 'POST', url: `${base}*` }, (request, reply) => start(deps, request, reply));
  serveEarly(app, { method: 'GET', url: one }, (request) => show(deps, request));
  serveEarly(app, { method: 'GET', url: `${one}/comparison` }, (request) => compare(deps, request));
  serveEarly(app, { method: 'POST', url: `${one}/cancel` }, (request) => cancel(deps, request));
}

async function list(deps: EvaluationDeps, request: FastifyRequest): Promise<unknown> {
  const { place } = await openOwn(deps, base, request);
  if ((await deps.store.find(place.id)) === undefined) throw notFound();
  return { object: 'list', data: (await deps.results.list(place.id)).map(toShownEvaluation) };
}

async function start(deps: EvaluationDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { caller, place } = await openOwn(deps, base, request);
  const asked = await readRequest(deps, request);
  const started = await deps.evaluations.start(await toStart(deps, { caller, id: place.id, asked }));
  const details = { evaluation: started.id, version: started.version };
  deps.noteAudit({ action: 'application.evaluated', subject: caller.subject, object: place.id, requestId: request.id, details });
  reply.code(202);
  return toShownEvaluation(started);
}

interface Starting {
  readonly caller: Caller;
  readonly id: string;
  readonly asked: EvaluationRequest;
}

async function toStart({ store, results }: EvaluationDeps, { caller, id, asked }: Starting): Promise<EvaluationStart> {
  const versions = await store.versions(id);
  const { version = versions[0]?.version, parallel, cases } = asked;
  const stored = version === undefined ? undefined : await store.findVersion(id, version);
  if (versions.length === 0 || version === undefined) throw notFound();
  if (stored === undefined)
    throw new ParleyError('deployment_not_found', `The application has no version ${version}, or it is no longer kept.`);
  const given = cases?.map((each) => ({ id: null, case: each })) ?? (await results.cases.list(id));
  if (given.length === 0)
    throw new ParleyError('invalid_request', 'The application has no cases; add some, or send them as cases.', {
      param: 'cases',
    });
  return { caller, application: id, shownId: shownId(stored), version, parallel, cases: given };
}

/** A body is not needed. */
async function readRequest(deps: EvaluationDeps, { raw }: FastifyRequest): Promise<EvaluationRequest> {
  const bytes = await readBody(raw, refuseLargeCases(deps, raw));
  if (bytes.length === 0) return {};
  requireJson(raw);
  return parseEvaluationRequest(parseBody(bytes));
}

async function show(deps: EvaluationDeps, request: FastifyRequest): Promise<unknown> {
  const evaluation = await findOwn(deps, request);
  const shown = toShownEvaluation(evaluation);
  if (queryOf(request).get('results') === 'false') return shown;
  return { ...shown, results: (await deps.results.results(evaluation.id)).map(toShownResult) };
}

async function compare(deps: EvaluationDeps, request: FastifyRequest): Promise<unknown> {
  const after = await findOwn(deps, request);
  const other = queryOf(request).get('with');
  if (other === null) throw requestFault('with', 'is required: the id of an evaluation to compare with');
  const before = await deps.results.find(other);
  if (before === undefined || before.application !== after.application) throw notKept();
  const [one, two] = [await deps.results.results(before.id), await deps.results.results(after.id)];
  return toShownComparison({ evaluation: before, results: one }, { evaluation: after, results: two });
}

async function cancel(deps: EvaluationDeps, request: FastifyRequest): Promise<unknown> {
  const evaluation = await findOwn(deps, request);
  await deps.evaluations.cancel(evaluation.id);
  const now = await deps.results.find(evaluation.id);
  if (now === undefined) throw notKept();
  return toShownEvaluation(now);
}

/** What is another user's is told as if there were none. */
async function findOwn(deps: EvaluationDeps, request: FastifyRequest): Promise<Evaluation> {
  const caller = await identifyUser(deps, request);
  const evaluation = await deps.results.find((request.params as { evaluation: string }).evaluation);
  if (evaluation === undefined || !isOwner(caller, { bucket: bucketIn(evaluation.application) })) throw notKept();
  return evaluation;
}

function queryOf({ raw }: FastifyRequest): URLSearchParams {
  const [, query = ''] = (raw.url ?? '').split('?', 2);
  return new URLSearchParams(query);
}

function notKept(): ParleyError {
  return new ParleyError('evaluation_not_found', 'No evaluation of yours has this id, or it made room for later ones.');
}
