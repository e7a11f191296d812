import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JsonObject } from '#base/json/json.ts';
import type { resetKinds } from '#contract/configuration/limits.ts';
import { toKeyId } from '#domain/callers/key-ring.ts';
import { type LimitCounters, toLimitAccount } from '#domain/limits/limit-counters.ts';
import { type LimitUsage, toLimitUsage } from '#domain/limits/limit-status.ts';
import type { Limit } from '#domain/limits/limits.ts';
import { type Query, readText, requireKnown } from '../../http/query.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { requireAdmin, requireUsageReader } from '../require-admin.ts';
import { createNumberedKeyError, type EntryDeps, findFileName, notFound, readId } from './entry-items.ts';
import { applyChange } from './entry-writes.ts';

export interface LimitRouteDeps extends EntryDeps {
  readonly counters: LimitCounters;
}

type ScopeKind = (typeof resetKinds)[number];

/** Scopes of limits, by their name in paths. */
const scopeKinds = { projects: 'project', keys: 'key', users: 'user' } as const satisfies Record<string, ScopeKind>;
type PathKind = keyof typeof scopeKinds;

/** Serves the usage of limits, and the reset of their counters, at `/v1/admin/{projects,keys,users}/{id}/usage` and `/reset`. */
export function limitRoutes(app: FastifyInstance, deps: LimitRouteDeps): void {
  for (const kind of Object.keys(scopeKinds) as PathKind[]) {
    const url = `/v1/admin/${kind}/:entry`;
    app.get(`${url}/usage`, async (request, reply) => {
      const id = readId(request);
      await requireUsageReader(deps, request, reply, kind === 'projects' ? id : undefined);
      return readUsage(deps, { kind, id }, request.query as Query);
    });
    serveEarly(app, { method: 'POST', url: `${url}/reset` }, (request, reply) => reset(deps, kind, request, reply));
  }
}

interface ScopeRef {
  readonly kind: PathKind;
  readonly id: string;
}

/** Returns the usage of the limits of a project, a key, or a user. With `role`, it returns the user's usage of the limits of that role. */
async function readUsage(deps: LimitRouteDeps, { kind, id }: ScopeRef, query: Query): Promise<JsonObject> {
  requireKnown(query, kind === 'users' ? ['role'] : []);
  const role = readText(query, 'role');
  const { limits } = deps.snapshot();
  const of = `${scopeKinds[kind]}:${id}`;
  if (role !== undefined) {
    const data = await listUsage(deps, id, (deployment) => limits.findForRoles(id, [role], deployment));
    return { object: 'list', of, role, data };
  }
  const scopeId = requireScopeId(deps, { kind, id });
  return {
    object: 'list',
    of,
    data: await listUsage(deps, id, (deployment) => limits.findForScope(scopeKinds[kind], scopeId, deployment)),
  };
}

/** Returns the ID of a scope in the limits of the configuration. Throws `entry_not_found`. Any user can exist. */
function requireScopeId(deps: LimitRouteDeps, { kind, id }: ScopeRef): string {
  if (kind === 'users') return id;
  const section: Readonly<Record<string, JsonObject>> = deps.snapshot().configuration[kind];
  const name = findFileName(deps, { kind, id }) ?? id;
  const entry = Object.hasOwn(section, name) ? section[name] : undefined;
  if (entry === undefined) throw notFound({ kind, id });
  return kind === 'keys' ? toKeyId(name, entry as Parameters<typeof toKeyId>[1]) : name;
}

/** Returns the usage of all limits. A limit of one deployment is omitted if its usage is 0. */
async function listUsage(
  { snapshot, counters }: LimitRouteDeps,
  subject: string,
  findLimits: (deployment: string) => readonly Limit[],
): Promise<readonly LimitUsage[]> {
  const ids = [...snapshot().deployments.keys()];
  const overall = findLimits(ids[0] ?? '').filter(({ isOverall }) => isOverall);
  const statuses = await counters.readStatuses(toLimitAccount(subject, '', overall));
  const byDeployment = await Promise.all(
    ids.map(async (id) => {
      const limits = findLimits(id).filter(({ isOverall }) => !isOverall);
      const statuses = await counters.readStatuses(toLimitAccount(subject, id, limits));
      return statuses.filter(({ used, reserved }) => used + reserved > 0).map((status) => toLimitUsage(status, id));
    }),
  );
  return [...statuses.map((status) => toLimitUsage(status, '')), ...byDeployment.flat()];
}

/** Stores the time of the reset. Names of counters contain this time, so new counters start at 0. */
async function reset(deps: LimitRouteDeps, kind: PathKind, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const { subject: author } = await requireAdmin(deps, request, reply, 'changes');
  requireKnown(request.query as Query, []);
  const id = readId(request);
  const scopeId = requireScopeId(deps, { kind, id });
  // The reset is stored under the ID, which must be the name of the key. It must not be its secret.
  if (kind === 'keys' && scopeId !== toKeyId(id, { sha256: '' })) throw createNumberedKeyError();
  const of = `${scopeKinds[kind]}:${id}`;
  const atMs = deps.clock.epochMs();
  const after = { value: { at: new Date(atMs).toISOString() } };
  const result = await applyChange(deps, request, () => [{ kind: 'limit-resets', id: of, after }], { author, action: 'reset' });
  return { of, at: atMs, change: result.change?.id ?? null };
}
