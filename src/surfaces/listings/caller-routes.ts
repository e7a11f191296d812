import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { splitPath, stripPathPrefix } from '#base/http/url-path.ts';
import type { JsonObject } from '#base/json/json.ts';
import type { SelfService } from '#contract/configuration/access.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { adminRole } from '#contract/roles.ts';
import { isBoundKey } from '#domain/callers/bound-key.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Calls } from '#domain/calls/call.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { type Deployment, findFeatureAddress } from '#domain/deployments/deployment.ts';
import { findUsable } from '#domain/deployments/usable-deployments.ts';
import { type LimitCounters, toLimitAccount } from '#domain/limits/limit-counters.ts';
import { hasScope, type LimitStatus, toLimitUsage, toScopeName } from '#domain/limits/limit-status.ts';
import { unitsPerUsd } from '#domain/limits/limits.ts';
import { computePeriodEnds, toStatsName, windows } from '#domain/limits/windows.ts';
import type { DocumentProgress } from '#domain/tools/passage-index.ts';
import { routeNotFound } from '../http/path-methods.ts';
import { createDisconnectSignal, identifyCaller, type SurfaceDeps } from '../http/read-request.ts';

export interface CallerRoutesDeps extends Pick<SurfaceDeps, 'identify' | 'snapshot' | 'clock'> {
  /** Whether the service can share chats. The configuration must allow it too. */
  readonly sharesChats: boolean;
  /** Whether the service stores files and documents of users. */
  readonly storesFiles: boolean;
  /** Whether the service can store chat runs. */
  readonly runsChats: boolean;
  /** Returns the caller's rights to create keys. Undefined if the caller may not create keys. */
  readonly findSelfService: (caller: Caller) => SelfService | undefined;
  readonly catalog: Catalog;
  readonly calls: Pick<Calls, 'callFeature'>;
  readonly counters: LimitCounters;
  /** Rejects with StoreError. */
  readonly documents: (deployment: Deployment) => Promise<readonly DocumentProgress[]>;
  /** Returns conversation starters from the application's MCP servers. */
  readonly starters: (
    deployment: Deployment,
    requester: { readonly caller: Caller; readonly signal: AbortSignal },
  ) => Promise<readonly string[]>;
}

/** A request for a view of a deployment that the caller may use. */
interface ViewRequest {
  readonly caller: Caller;
  readonly deployment: Deployment;
  readonly snapshot: ConfigSnapshot;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Returns the response body of a view. */
type View = (deps: CallerRoutesDeps, viewRequest: ViewRequest) => unknown;

/** Views of a deployment, by the last segment of the path. */
const views: Readonly<Record<string, View>> = {
  async limits({ counters, clock }, { caller, deployment, snapshot }) {
    const limits = snapshot.limits.find(caller, deployment.id);
    const statuses = await counters.readStatuses(toLimitAccount(caller.subject, deployment.id, limits));
    const scopes = statuses.flatMap((status) =>
      hasScope(status.limit) ? [{ of: toScopeName(status.limit), ...toLimitUsage(status, deployment.id) }] : [],
    );
    const roleStatuses = statuses.filter(({ limit }) => !hasScope(limit));
    return { ...toLimitStats(roleStatuses, clock.epochMs()), ...(scopes.length > 0 && { scopes }) };
  },
  documents: async ({ documents }, { caller, deployment }) => toDocumentList(await documents(deployment), { caller, deployment }),
  configuration: getConfiguration,
};

const deploymentsBase = '/v1/deployments/';

/** Serves `/v1/user/info`, `/v1/prompt-library`, and `/v1/deployments/{id}/limits`, `/configuration`, and `/documents` (docs/wire.md, Listings). */
export function callerRoutes(app: FastifyInstance, deps: CallerRoutesDeps): void {
  app.get('/v1/user/info', async (request) => {
    const caller = await identifyCaller(deps, request, 'accepts bound keys');
    const { subject, project, roles } = caller;
    const selfService = deps.findSelfService(caller);
    const { page, responses, addons } = deps.snapshot().configuration;
    const { titleModel, sharing, conversations } = page;
    const sharesChats = deps.sharesChats && sharing && conversations === 'server';
    const runsChats = deps.runsChats && responses.store === 'allow' && conversations === 'server';
    return {
      ...{ user: subject, project, roles },
      ...(titleModel !== undefined && { titleModel }),
      ...(sharesChats && { sharesChats }),
      ...(deps.storesFiles && !isBoundKey(caller) && { storesFiles: true }),
      ...(runsChats && { runsChats }),
      ...(Object.keys(addons).length > 0 && { hasAddons: true }),
      ...(selfService && { selfService }),
    };
  });
  app.get('/v1/prompt-library', async (request) => {
    const { roles } = await identifyCaller(deps, request);
    const prompts = Object.entries(deps.snapshot().configuration.prompts);
    const visible = prompts.filter(([, { userRoles }]) => userRoles?.some((role) => roles.includes(role)) !== false);
    return { object: 'list', data: visible.map(([name, { content }]) => ({ name, content })) };
  });
  app.get(`${deploymentsBase}*`, async (request, reply) => {
    const caller = await identifyCaller(deps, request, 'accepts bound keys');
    const { view, encodedId } = parseViewPath(request);
    const snapshot = deps.snapshot();
    const deployment = await findUsable({ catalog: deps.catalog, snapshot, caller }, toDeploymentId(encodedId));
    return view(deps, { caller, deployment, snapshot, request, reply });
  });
}

/** Returns the view and the encoded deployment ID. The last segment names the view, because IDs may contain slashes. */
function parseViewPath({ url }: FastifyRequest): { view: View; encodedId: string } {
  const { parent: encodedId, name } = splitPath(stripPathPrefix(deploymentsBase, url));
  const view = Object.hasOwn(views, name) ? views[name] : undefined;
  if (view === undefined) throw routeNotFound();
  return { view, encodedId };
}

/**
 * Returns the configuration of a conversation. For a deployment with a configuration endpoint, it is the response of the
 * endpoint. For a quick app, it has the app's own starters, then those of its MCP servers. For other deployments, it is empty.
 */
async function getConfiguration(
  { calls, starters }: CallerRoutesDeps,
  { request, reply, caller, deployment, snapshot }: ViewRequest,
): Promise<unknown> {
  const { quickApp } = deployment;
  const signal = createDisconnectSignal(reply.raw);
  const endpoint = findFeatureAddress(deployment, 'configurationEndpoint');
  if (endpoint === undefined)
    return quickApp === undefined
      ? {}
      : toStarterForm([...quickApp.starters, ...(await starters(deployment, { caller, signal }))]);
  const featureCall = { endpoint, caller, deployment, snapshot, origin: request.raw, requestId: request.id };
  const { status, headers, bytes } = await calls.callFeature(featureCall, signal);
  return reply.code(status).headers(headers).send(bytes);
}

/** Returns the starters, and a JSON Schema for the choice of one of them. */
function toStarterForm(starters: readonly string[]): { readonly starters: readonly string[]; readonly schema: JsonObject } {
  const choices = [...new Set(starters)];
  const starter = { type: 'string', title: 'Starter', description: 'A prompt to begin with.', enum: choices };
  return { starters, schema: { type: 'object', properties: choices.length === 0 ? {} : { starter } } };
}

/** Returns the indexing progress of documents. Only the owner of the application and administrators get `reference`. */
function toDocumentList(
  documents: readonly DocumentProgress[],
  { caller, deployment }: { readonly caller: Caller; readonly deployment: Deployment },
): Record<string, unknown> {
  const isDetailed =
    caller.chain === null && (caller.subject === deployment.ownership?.owner || caller.roles.includes(adminRole));
  const data = documents.map(({ name, reference, state, isSearchable, reason = null, done, total = null }) => {
    return { name, ...(isDetailed && { reference }), state, searchable: isSearchable, reason, passages: { done, total } };
  });
  return { object: 'list', data };
}

/** Usage of one window. Amounts are tokens, requests, USD, or calls in progress. Times are milliseconds since the epoch. */
interface WindowStats {
  readonly total: number | null;
  readonly used: number;
  /** Amount reserved for calls in progress. Absent if it is 0. */
  readonly reserved?: number;
  /** Absent for calls in progress. */
  readonly resetsAt?: number;
}

/**
 * Returns the usage of every window of the roles by field name, such as `minuteTokenStats`. A window without a limit has no
 * total, and its usage is not counted.
 */
function toLimitStats(statuses: readonly LimitStatus[], nowMs: number): Record<string, WindowStats> {
  const ends = computePeriodEnds(nowMs);
  return Object.fromEntries(
    windows.map((window) => {
      const status = statuses.find(({ limit }) => limit.window === window);
      if (window.kind === 'calls')
        return [toStatsName(window), { total: status?.limit.total ?? null, used: status?.reserved ?? 0 }];
      const units = window.kind === 'cost' ? unitsPerUsd : 1;
      const { limit, used = 0, reserved = 0, resetsAtMs: resetsAt = ends[window.period] } = status ?? {};
      const stats: WindowStats = {
        ...{ total: limit === undefined ? null : limit.total / units, used: used / units },
        ...(reserved > 0 && { reserved: reserved / units }),
        resetsAt,
      };
      return [toStatsName(window), stats];
    }),
  );
}
