import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#base/clock.ts';
import { pathBelow } from '#base/url-path.ts';
import { isSameForm, parseConsentForm } from '#contract/consent.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { requireOwn } from '#domain/callers/require-own.ts';
import { type ConsentDeps, type Consenting, consentStatusOf, formOf } from '#domain/consent/consent-status.ts';
import type { StoredConsent } from '#domain/consent/consent-store.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { deploymentNotFound, findUsable } from '#domain/deployments/usable-deployments.ts';
import type { NoteAudit } from '#domain/usage/journal.ts';
import { readCredentials } from '../http/credentials.ts';
import { refuseLargeBody, requireJson } from '../http/read-body.ts';
import { readJsonBody } from '../http/read-json-body.ts';
import { serveEarly } from '../http/serve-early.ts';

export interface ConsentSurfaceDeps extends ConsentDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly catalog: Catalog;
  readonly identify: Identify;
  readonly clock: Clock;
  readonly noteAudit: NoteAudit;
}

const base = '/v1/consent';

/** `GET /v1/consent` and `GET`, `POST`, `DELETE /v1/consent/{id}` (docs/wire.md, Consent). */
export function consentRoutes(app: FastifyInstance, tools: ConsentSurfaceDeps): void {
  serveEarly(app, { method: 'GET', url: base }, async (request) => {
    const { subject } = await identifyUser(tools, request);
    const stored = await tools.store.list(subject);
    return { object: 'list', data: stored.map(toListItem) };
  });
  serveEarly(app, { method: 'GET', url: `${base}/*` }, async (request) => {
    const consenting = await find(tools, await identifyUser(tools, request), idOf(request));
    const { form, isAccepted } = await consentStatusOf(tools, consenting);
    return isAccepted ? { accepted: true } : { consent: form, accepted: false };
  });
  serveEarly(app, { method: 'POST', url: `${base}/*` }, (request) => accept(tools, request));
  serveEarly(app, { method: 'DELETE', url: `${base}/*` }, (request, reply) => withdraw(tools, request, reply));
}

/** Stores the form that is sent, where it is the form of today once the whole of it is there. */
async function accept(tools: ConsentSurfaceDeps, request: FastifyRequest): Promise<unknown> {
  const { maxBodyBytes } = tools.snapshot().configuration.security;
  refuseLargeBody(request.raw, maxBodyBytes);
  const caller = await identifyUser(tools, request);
  requireJson(request.raw);
  const body = await readJsonBody(request.raw, maxBodyBytes, { allowsProto: true });
  const consenting = await find(tools, caller, idOf(request));
  const form = parseConsentForm(body());
  const { id: deployment } = consenting.deployment;
  if (!isSameForm(form, await formOf(tools, consenting))) {
    throw new ParleyError('consent_outdated', `This is not the form of ${deployment} as it is today; get it anew and show it.`);
  }
  await tools.store.put(caller.subject, { deployment, form, acceptedAtMs: tools.clock.epochMs() });
  tools.noteAudit({ action: 'consent.accepted', subject: caller.subject, object: deployment, requestId: request.id });
  return { accepted: true };
}

/** Takes back also what was given to a deployment that is gone or closed by now. */
async function withdraw(tools: ConsentSurfaceDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const caller = await identifyUser(tools, request);
  const id = idOf(request);
  const stored = await tools.store.find(caller.subject, id);
  if (stored === undefined) await find(tools, caller, id);
  await tools.store.delete(caller.subject, id);
  if (stored !== undefined)
    tools.noteAudit({ action: 'consent.withdrawn', subject: caller.subject, object: id, requestId: request.id });
  reply.code(204);
}

/** The one whose consents these are; no application stands in for its user. */
async function identifyUser({ identify }: ConsentSurfaceDeps, { raw }: FastifyRequest): Promise<Caller> {
  const caller = await identify(readCredentials(raw));
  requireOwn(caller, 'see, give or withdraw consent');
  return caller;
}

/** Throws `deployment_not_found` or `access_denied`. */
async function find(tools: ConsentSurfaceDeps, caller: Caller, id: string): Promise<Consenting> {
  const snapshot = tools.snapshot();
  const deployment = await findUsable({ catalog: tools.catalog, snapshot, caller }, id);
  return { caller, deployment, snapshot };
}

function idOf({ url }: FastifyRequest): string {
  const id = toDeploymentId(pathBelow(`${base}/`, url));
  if (id === undefined) throw deploymentNotFound(id);
  return id;
}

function toListItem({ deployment, form, acceptedAtMs }: StoredConsent): unknown {
  return { deployment, consent: form, acceptedAt: acceptedAtMs };
}
