import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stripPathPrefix } from '#base/http/url-path.ts';
import { isSameForm, parseConsentForm } from '#contract/consent.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { buildConsentForm, type ConsentContext, type ConsentDeps, getConsentStatus } from '#domain/consent/consent.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import { createDeploymentNotFoundError, findUsable } from '#domain/deployments/usable-deployments.ts';
import { identifyUser, readRequest, type SurfaceDeps } from '../http/read-request.ts';
import { serveEarly } from '../http/serve-raw.ts';

export interface ConsentSurfaceDeps extends ConsentDeps, SurfaceDeps {
  readonly catalog: Catalog;
}

const base = '/v1/consent';

/** Serves `GET /v1/consent` and `GET`, `POST`, and `DELETE /v1/consent/{id}` (docs/consent.md). */
export function consentRoutes(app: FastifyInstance, deps: ConsentSurfaceDeps): void {
  serveEarly(app, { method: 'GET', url: base }, async (request) => {
    const { subject } = await identifyConsentingUser(deps, request);
    const stored = await deps.store.list(subject);
    const data = stored.map(({ deployment, form, acceptedAtMs }) => ({ deployment, consent: form, acceptedAt: acceptedAtMs }));
    return { object: 'list', data };
  });
  serveEarly(app, { method: 'GET', url: `${base}/*` }, async (request) => {
    const consentSubject = await find(deps, await identifyConsentingUser(deps, request), getId(request));
    const { form, isAccepted } = await getConsentStatus(deps, consentSubject);
    return isAccepted ? { accepted: true } : { consent: form, accepted: false };
  });
  serveEarly(app, { method: 'POST', url: `${base}/*` }, (request) => accept(deps, request));
  serveEarly(app, { method: 'DELETE', url: `${base}/*` }, (request, reply) => withdraw(deps, request, reply));
}

/** Maximum size of a submitted form. A form of thousands of dependencies is smaller. */
const maxFormBytes = 4 * 1024 ** 2;

/**
 * Stores the submitted form. Compares it with the form that is current after the complete body has arrived. Throws
 * `consent_outdated` if they differ.
 */
async function accept(deps: ConsentSurfaceDeps, request: FastifyRequest): Promise<unknown> {
  const { maxBodyBytes } = deps.snapshot().configuration.security;
  const options = { maxBytes: Math.min(maxBodyBytes, maxFormBytes), allowsProto: true };
  const { caller, body } = await readRequest(request, options, () => identifyConsentingUser(deps, request));
  const consentSubject = await find(deps, caller, getId(request));
  const form = parseConsentForm(body());
  const { id: deployment } = consentSubject.deployment;
  const currentForm = await buildConsentForm(deps, consentSubject);
  if (!isSameForm(form, currentForm)) {
    const message = `The submitted form is not the current form of ${deployment}. Show the user the current form, which the field consent of this error contains.`;
    throw new ParleyError('consent_outdated', message, { members: { deployment, consent: currentForm } });
  }
  await deps.store.put(caller.subject, { deployment, form, acceptedAtMs: deps.clock.epochMs() });
  deps.recordAudit({ action: 'consent.accepted', subject: caller.subject, object: deployment, requestId: request.id });
  return { accepted: true };
}

/** Withdraws a consent. The deployment may have been deleted, and the user need not have access to it. */
async function withdraw(deps: ConsentSurfaceDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const caller = await identifyConsentingUser(deps, request);
  const requestedId = getId(request);
  const accepted = await deps.store.find(caller.subject, requestedId);
  const id = accepted === undefined ? (await find(deps, caller, requestedId)).deployment.id : requestedId;
  const stored = accepted ?? (await deps.store.find(caller.subject, id));
  await deps.store.delete(caller.subject, id);
  if (stored !== undefined)
    deps.recordAudit({ action: 'consent.withdrawn', subject: caller.subject, object: id, requestId: request.id });
  reply.code(204);
}

/** Returns the caller. Throws `access_denied` for per-request keys: an application may not consent for its user. */
function identifyConsentingUser(deps: ConsentSurfaceDeps, request: FastifyRequest): Promise<Caller> {
  return identifyUser(deps, request, 'see, give or withdraw consent');
}

/** Throws `deployment_not_found` or `access_denied`. */
async function find(deps: ConsentSurfaceDeps, caller: Caller, id: string): Promise<ConsentContext> {
  const snapshot = deps.snapshot();
  const deployment = await findUsable({ catalog: deps.catalog, snapshot, caller }, id);
  return { caller, deployment, snapshot };
}

function getId({ url }: FastifyRequest): string {
  const id = toDeploymentId(stripPathPrefix(`${base}/`, url));
  if (id === undefined) throw createDeploymentNotFoundError(id);
  return id;
}
