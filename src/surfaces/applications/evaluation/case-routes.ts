import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '#contract/errors/errors.ts';
import { caseBounds, type EvaluationCase } from '#contract/evaluation/evaluation-case.ts';
import { parseCase, parseCaseList, parseCases, parseCsvCases } from '#contract/evaluation/parse-cases.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { createApplicationNotFoundError } from '#domain/deployments/application-location.ts';
import type { EvaluationStore, StoredCase } from '#domain/evaluation/evaluation.ts';
import type { EvaluationRuns } from '#services/evaluation/evaluation-runs.ts';
import { isPlainType, readBody, readJson, rejectLargeBody } from '../../http/read-request.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { type ApplicationDeps, findApplication, identifyBuilder, identifyOwner, isOwner } from '../application-access.ts';

/** Dependencies of the routes for cases and evaluations. */
export interface EvaluationDeps extends Pick<ApplicationDeps, 'snapshot' | 'identify' | 'store' | 'clock' | 'recordAudit'> {
  readonly evaluations: EvaluationRuns;
  readonly results: EvaluationStore;
  /** Returns a new case ID. */
  readonly newId: () => string;
}

const base = '/v1/cases/applications/';

/**
 * Serves `/v1/cases/applications/{bucket}/{path}`, the cases of an application, and `/v1/cases/{case}`, a single case. Both are
 * only for the owner.
 */
export function caseRoutes(app: FastifyInstance, deps: EvaluationDeps): void {
  serveEarly(app, { method: 'GET', url: `${base}*` }, (request) => list(deps, request));
  serveEarly(app, { method: 'POST', url: `${base}*` }, (request, reply) => add(deps, request, reply));
  serveEarly(app, { method: 'PUT', url: '/v1/cases/:case' }, (request) => replace(deps, request));
  serveEarly(app, { method: 'DELETE', url: '/v1/cases/:case' }, (request, reply) => remove(deps, request, reply));
}

async function list(deps: EvaluationDeps, request: FastifyRequest): Promise<unknown> {
  const { location } = await identifyOwner(deps, base, request);
  await findApplication(deps, location);
  return { object: 'list', data: (await deps.results.cases.list(location.id)).map(toCaseItem) };
}

async function add(deps: EvaluationDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { location } = await identifyOwner(deps, base, request);
  const cases = await readCases(deps, request);
  const nowMs = deps.clock.epochMs();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const stored = cases.map((entry) => ({ id: deps.newId(), application: location.id, case: entry, ...times }));
  const outcome = await deps.results.cases.add(stored);
  if (outcome === 'absent') throw createApplicationNotFoundError();
  if (outcome === 'full') throw tooManyCases();
  reply.code(201);
  return { object: 'list', data: stored.map(toCaseItem) };
}

async function readCases(deps: EvaluationDeps, request: FastifyRequest): Promise<readonly EvaluationCase[]> {
  const { raw } = request;
  const maxBytes = rejectLargeCases(deps, raw);
  if (isPlainType(raw, 'text/csv')) {
    const bytes = await readBody(raw, maxBytes);
    return parseCaseList(parseCsvCases(bytes.toString('utf8')), '');
  }
  return parseCases(await readJson(request, { maxBytes }));
}

/** Throws if the announced length of the body exceeds the limit for cases. Returns that limit in bytes. */
export function rejectLargeCases({ snapshot }: EvaluationDeps, request: IncomingMessage): number {
  const maxBytes = Math.min(storedEntries.evaluationCases.maxBytes, snapshot().configuration.security.maxBodyBytes);
  rejectLargeBody(request, maxBytes);
  return maxBytes;
}

async function replace(deps: EvaluationDeps, request: FastifyRequest): Promise<unknown> {
  const { clock, results } = deps;
  const maxBytes = rejectLargeCases(deps, request.raw);
  const before = await findOwnCase(deps, request);
  const entry = parseCase(await readJson(request, { maxBytes }));
  const stored = { ...before, case: entry, updatedAtMs: clock.epochMs() };
  if (!(await results.cases.replace(stored))) throw caseNotFound();
  return toCaseItem(stored);
}

async function remove(deps: EvaluationDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { id } = await findOwnCase(deps, request);
  if (!(await deps.results.cases.delete(id))) throw caseNotFound();
  reply.code(204);
}

/** Throws `evaluation_not_found` also for a case of another user, so that the error does not reveal that it exists. */
async function findOwnCase(deps: EvaluationDeps, request: FastifyRequest): Promise<StoredCase> {
  const caller = await identifyBuilder(deps, request);
  const storedCase = await deps.results.cases.find((request.params as { case: string }).case);
  if (storedCase === undefined || !ownsApplication(caller, storedCase.application)) throw caseNotFound();
  return storedCase;
}

/** Returns whether the caller owns an application. Its ID contains the bucket of its owner. */
export function ownsApplication(caller: Caller, applicationId: string): boolean {
  const [, bucket = ''] = applicationId.split('/');
  return isOwner(caller, { bucket });
}

function caseNotFound(): ParleyError {
  return new ParleyError('evaluation_not_found', 'You have no case with this ID.');
}

function tooManyCases(): ParleyError {
  const { maxCases, maxTotalChars } = caseBounds;
  return new ParleyError(
    'invalid_request',
    `An application may have at most ${maxCases} cases with ${maxTotalChars} characters in total.`,
  );
}

function toCaseItem({ id, case: entry, createdAtMs, updatedAtMs }: StoredCase): object {
  return { id, ...entry, createdAt: createdAtMs, updatedAt: updatedAtMs };
}
