import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#base/clock.ts';
import { ParleyError } from '#contract/errors.ts';
import { adminRole } from '#contract/roles.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { requireOwn } from '#domain/callers/require-own.ts';
import type { Journal } from '#domain/usage/journal.ts';
import { readCredentials } from '../http/read-request.ts';
import { readAudit } from './audit.ts';
import { readCalls } from './calls.ts';
import { type Rows, toCsv } from './csv.ts';
import type { NodeReport } from './node-report.ts';
import { type Query, queryFault, readIsCsv, readText } from './query.ts';
import { readRatings } from './ratings.ts';
import { readUsage } from './usage.ts';

export interface AdminDeps {
  readonly identify: Identify;
  readonly journal: Journal;
  readonly readNode: () => NodeReport;
  readonly clock: Clock;
}

/** `/v1/admin/usage`, `/calls`, `/audit` and `/state` for the role `admin`, `/v1/user/usage` and `/v1/user/calls` for everyone's own. */
export function adminRoutes(app: FastifyInstance, deps: AdminDeps): void {
  const { journal, readNode, clock } = deps;
  app.get('/v1/admin/usage', async (request, reply) => {
    await requireAdmin(deps, request, reply);
    const query = request.query as Query;
    const kind = readText(query, 'kind');
    if (kind === 'rate') return readRatings(journal, query);
    if (kind !== undefined) throw queryFault('kind', 'may be rate; absent, tokens and costs are told');
    const scope = { subject: undefined, keys: ['day', 'deployment', 'user', 'project'], nowMs: clock.epochMs() } as const;
    return send(reply, query, await readUsage(journal, query, scope));
  });
  app.get('/v1/admin/calls', async (request, reply) => {
    await requireAdmin(deps, request, reply);
    const query = request.query as Query;
    return send(reply, query, await readCalls(journal, query, { subject: undefined, nowMs: clock.epochMs() }));
  });
  app.get('/v1/admin/audit', async (request, reply) => {
    await requireAdmin(deps, request, reply);
    return readAudit(journal, request.query as Query);
  });
  app.get('/v1/admin/state', async (request, reply) => {
    await requireAdmin(deps, request, reply);
    return readNode();
  });
  app.get('/v1/user/usage', async (request, reply) => {
    const { subject } = await ownOf(deps, request, reply);
    const scope = { subject, keys: ['day', 'deployment'], nowMs: clock.epochMs() } as const;
    const query = request.query as Query;
    return send(reply, query, await readUsage(journal, query, scope));
  });
  app.get('/v1/user/calls', async (request, reply) => {
    const { subject } = await ownOf(deps, request, reply);
    const query = request.query as Query;
    return send(reply, query, await readCalls(journal, query, { subject, nowMs: clock.epochMs() }));
  });
}

/** Sends rows as JSON, or as CSV if the query asks for it. A header field then has the token of the next page. */
function send(reply: FastifyReply, query: Query, rows: Rows): unknown {
  if (!readIsCsv(query)) return rows;
  if (rows.nextToken) reply.header('parley-next-token', rows.nextToken);
  return reply.type('text/csv; charset=utf-8').send(toCsv(rows));
}

async function ownOf(deps: AdminDeps, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  const caller = await callerOf(deps, request, reply);
  requireOwn(caller, "read its user's usage");
  return caller;
}

/** Throws `access_denied` if a caller lacks the role, or holds it only through a per-request key. */
async function requireAdmin(deps: AdminDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const caller = await callerOf(deps, request, reply);
  requireOwn(caller, 'administer');
  if (caller.roles.includes(adminRole)) return;
  throw new ParleyError('access_denied', `This is open to the role ${adminRole}, which your key or token does not have.`);
}

async function callerOf({ identify }: AdminDeps, { raw }: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  reply.header('cache-control', 'no-store');
  return identify(readCredentials(raw), raw);
}
