import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import fastify, { type FastifyInstance } from 'fastify';
import { Caches } from '#base/cache/bounded-cache.ts';
import { createLetterIds } from '#base/text/letter-id.ts';
import { RecurringTasks } from '#base/time/recurring-tasks.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import { createUserBlockedError } from '#domain/callers/blocked-users.ts';
import type { Caller, Profile } from '#domain/callers/caller.ts';
import {
  createIdentify,
  createUnauthorizedError,
  hasExpired,
  type Identify,
  type VerifyToken,
  wasRevoked,
} from '#domain/callers/identify.ts';
import { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { RecordAudit } from '#domain/usage/journal.ts';
import { createTokenVerifier } from '#identity/token-verifier.ts';
import { BlockedUsers } from '#services/callers/blocked-users.ts';
import { KeyUses } from '#services/callers/key-uses.ts';
import { UserKeys } from '#services/callers/user-keys.ts';
import { defaultFileLimits, StoredResources } from '#services/files/stored-resources.ts';
import { withFileDeletion } from '#services/files/with-file-deletion.ts';
import { InFlightCalls } from '#services/node/in-flight-calls.ts';
import { InputMemory } from '#services/node/input-memory.ts';
import { GroupRoles } from '#services/scim/group-roles.ts';
import { People } from '#services/scim/people.ts';
import { AddinMount } from '#surfaces/addin/mount.ts';
import { listAliasOperations } from '#surfaces/chat-completions/openapi.ts';
import { createErrorDialectSelector } from '#surfaces/chat-completions/replies.ts';
import { toRatePath } from '#surfaces/features/routes.ts';
import { withCorsHeaders } from '#surfaces/http/cross-origin.ts';
import { FastPath } from '#surfaces/http/fast-path.ts';
import { createErrorOptions, handleErrors, rejectInvalidHeaders } from '#surfaces/http/framework-errors.ts';
import { handleUnmatchedRequests, type MethodOfPath } from '#surfaces/http/path-methods.ts';
import { RequestHandler } from '#surfaces/http/request-handler.ts';
import { enforceBodyPace, headTimeouts, limitPipelining, withStrictTransport } from '#surfaces/http/server-guards.ts';
import { errorDialectAt } from '#surfaces/messages/error-dialect.ts';
import { scimErrorDialect, scimPrefix } from '#surfaces/scim/scim-error.ts';
import { getProcessMemory, getUserInputBytes } from '../process/memory-shares.ts';
import { type CallPipeline, type CompleteServiceDeps, composePipeline } from './compose-calls.ts';
import type { Core } from './feature.ts';
import { features, listApiOperations } from './features.ts';
import type { ServiceDeps } from './service-deps.ts';

const routerOptions = { maxParamLength: 4096 };
/** Server options. Idle connections stay open longer than the 60 s that are usual for load balancers. */
const httpOptions = { ...headTimeouts, requireHostHeader: false, keepAliveTimeout: 75_000 };

/** Replaces Fastify's schema compilers, which would load 0.5 MB of code. No route has a schema of Fastify's kind. */
const rejectSchemas = (): never => {
  throw new Error('a route has a schema, but there is no compiler for schemas');
};

/** A composed service. */
export interface Service {
  readonly app: FastifyInstance;
  readonly inFlightCalls: InFlightCalls;
  readonly loadBalancer: LoadBalancer;
  /** Indexes the documents of the current configuration in the background. */
  readonly prepareDocuments: () => void;
}

/** Builds a service from its dependencies. The service does not listen yet. */
export function composeService(deps: ServiceDeps): Service {
  const noop = (): void => undefined;
  const loadBalancer = deps.loadBalancer ?? new LoadBalancer();
  const completeDeps: CompleteServiceDeps = {
    reportError: noop,
    onDependencyGraph: noop,
    recordAudit: noop,
    caches: new Caches(),
    ...deps,
    loadBalancer,
  };
  const app = createServer(completeDeps);
  const inFlightCalls = new InFlightCalls();
  const pipeline = composePipeline(completeDeps);
  app.addHook('onClose', () => pipeline.mcp.close());
  app.addHook('onClose', () => pipeline.documents.close());
  completeDeps.addHooks?.(app);
  const core = composeCore(app, completeDeps, { pipeline, inFlightCalls });
  for (const feature of features) feature.add(core);
  const prepareDocuments = (): void => pipeline.documents.prepare(() => completeDeps.snapshot().deployments.values());
  return { app, inFlightCalls, loadBalancer, prepareDocuments };
}

function composeCore(
  app: FastifyInstance,
  deps: CompleteServiceDeps,
  { pipeline, inFlightCalls }: Pick<Core, 'inFlightCalls'> & { readonly pipeline: CallPipeline },
): Core {
  const { snapshot, clock, telemetry, reportError } = deps;
  const userKeys = composeUserKeys(app, deps, inFlightCalls);
  endCallsOfRevokedKeys(app, deps, inFlightCalls);
  const blockedUsers = composeBlockedUsers(app, deps, inFlightCalls);
  const groupRoles = composeGroupRoles(app, deps);
  const people = deps.keys?.people && new People({ ...deps, store: deps.keys.people, scim: deps.keys.scim });
  const journal = deps.admin?.journal;
  const keyUses = journal && new KeyUses({ ...deps, kind: 'configured keys', write: (uses) => journal.recordKeyUses(uses) });
  if (keyUses !== undefined) app.addHook('onClose', () => keyUses.close());
  const identify = composeIdentify(deps, { keyUses, userKeys, blockedUsers, groupRoles, people });
  const storedResources = composeStoredResources(deps);
  const { applications } = deps.stores;
  const inputMemory = new InputMemory(deps.maxUserInputBytes ?? getUserInputBytes(getProcessMemory()));
  const prepareSaved = (id: string): void =>
    pipeline.documents.prepare(async () => [await pipeline.catalog.findStored(id)].filter((saved) => saved !== undefined));
  return {
    ...deps,
    ...pipeline,
    app,
    identify,
    handler: new RequestHandler({ clock, identify, snapshot, inFlightCalls, inputMemory, telemetry }),
    inputMemory,
    inFlightCalls,
    userKeys,
    blockedUsers,
    groupRoles,
    people,
    hasLostAccess: (caller) =>
      userKeys?.hasInvalidKey(caller) === true ||
      blockedUsers?.has(caller) === true ||
      hasExpired(caller, clock.epochMs()) ||
      wasRevoked(caller, snapshot().keys),
    storedResources,
    savedApplications: storedResources ? withFileDeletion(applications, storedResources, reportError) : applications,
    recordAudit: withSavedApplications(deps.recordAudit, prepareSaved),
    aliases: snapshot().configuration.aliases,
    createdSeconds: Math.floor(clock.epochMs() / 1000),
    deploymentActions: new Map(),
    deploymentApis: {},
  };
}

function composeStoredResources({ files, snapshot, clock, reportError }: CompleteServiceDeps): StoredResources | undefined {
  if (files === undefined) return undefined;
  const bounds = () => snapshot().configuration.files;
  return new StoredResources({ ...defaultFileLimits, ...files, bounds, clock, newId: randomUUID, reportError });
}

/** Returns a function that records audit events, and calls `onSaved` with the ID of each application that is saved. */
function withSavedApplications(recordAudit: RecordAudit, onSaved: (id: string) => void): RecordAudit {
  return (event) => {
    recordAudit(event);
    if (event.action === 'application.saved' && event.object !== undefined) onSaved(event.object);
  };
}

/** Returns a server with the handlers for requests that match no route. */
function createServer({ snapshot, reportError, tls }: CompleteServiceDeps): FastifyInstance {
  const { aliases } = snapshot().configuration;
  const allowedOrigins = () => snapshot().configuration.security.allowedOrigins;
  const toCompatDialect = createErrorDialectSelector(['compat', ...aliases.compat]);
  const dialectAt = errorDialectAt(aliases.msgapi, (path) =>
    path.startsWith(`${scimPrefix}/`) ? scimErrorDialect : toCompatDialect(path),
  );
  const addin = new AddinMount(snapshot);
  const newRequestId = createLetterIds();
  const fastPath = new FastPath(newRequestId);
  const app: FastifyInstance = fastify({
    routerOptions,
    rewriteUrl: (request) => toRatePath(request.method, addin.rewriteUrl(request)),
    schemaController: { compilersFactory: { buildValidator: rejectSchemas, buildSerializer: rejectSchemas } },
    ...createErrorOptions(newRequestId, dialectAt),
    serverFactory(framework) {
      const listener = withCorsHeaders(limitPipelining(fastPath.before(framework)), { snapshot, isExempt: addin.accepts });
      return tls === undefined
        ? createHttpServer(httpOptions, listener)
        : createHttpsServer({ ...httpOptions, ...tls }, withStrictTransport(listener));
    },
  });
  enforceBodyPace(app.server);
  fastPath.collectRoutes(app);
  addin.addHooks(app);
  rejectInvalidHeaders(app);
  handleErrors(app, {
    reportError: (error, id) => reportError(`request ${id} failed`, error),
    errorDialectAt: dialectAt,
  });
  handleUnmatchedRequests(app, { operations: () => listPaths(aliases), allowedOrigins });
  return app;
}

function listPaths(aliases: Configuration['aliases']): readonly MethodOfPath[] {
  return [...listApiOperations({ aliases }), ...listAliasOperations(['compat', ...aliases.compat])];
}

function composeIdentify(
  { snapshot, http, clock, caches, stores, entries, reportError, recordAudit }: CompleteServiceDeps,
  {
    keyUses,
    userKeys,
    blockedUsers,
    groupRoles,
    people,
  }: Pick<Core, 'userKeys' | 'blockedUsers' | 'groupRoles' | 'people'> & { readonly keyUses: KeyUses | undefined },
): Identify {
  const recordRejection = (code: string): void =>
    recordAudit({ action: 'credentials.refused', subject: undefined, object: undefined, details: { code } });
  const recordSignIn = async (tokenCaller: Caller, profile: Profile): Promise<void> => {
    const caller = groupRoles === undefined ? tokenCaller : await groupRoles.addRoles(tokenCaller);
    userKeys?.onSignIn(caller);
    await people?.onSignIn(caller, profile);
  };
  const verify = createTokenVerifier({ snapshot, http, clock, caches, reportError, recordSignIn });
  const verifyToken: VerifyToken =
    groupRoles === undefined ? verify : async (token, from) => groupRoles.addRoles(await verify(token, from));
  return createIdentify(snapshot, stores.perRequestKeys, {
    verifyToken,
    clock,
    userKeys,
    blockedUsers,
    runtimeKeys: entries?.entries,
    onKeyUse: keyUses && ((name) => keyUses.record(name)),
    onRejection: recordRejection,
  });
}

/** Creates the keys of users. Calls in progress end when their key is no longer valid. */
function composeUserKeys(
  app: FastifyInstance,
  { keys, snapshot, clock, reportError, broadcast }: CompleteServiceDeps,
  inFlightCalls: InFlightCalls,
): UserKeys | undefined {
  if (keys === undefined) return undefined;
  const userKeys = new UserKeys({ ...keys, snapshot, clock, reportError, broadcast });
  userKeys.onChange(() => inFlightCalls.abortMatching((caller) => userKeys.hasInvalidKey(caller), createKeyEndedError()));
  app.addHook('onClose', () => userKeys.close());
  return userKeys;
}

/** Creates the list of users that administrators blocked. Their calls in progress end. */
function composeBlockedUsers(
  app: FastifyInstance,
  { keys, reportError, broadcast }: CompleteServiceDeps,
  inFlightCalls: InFlightCalls,
): BlockedUsers | undefined {
  if (keys === undefined) return undefined;
  const blockedUsers = new BlockedUsers({ store: keys.blockedUsers, isShared: keys.isShared, reportError, broadcast });
  blockedUsers.onChange(() => inFlightCalls.abortMatching((caller) => blockedUsers.has(caller), createUserBlockedError()));
  app.addHook('onClose', async () => blockedUsers.close());
  return blockedUsers;
}

/** Creates the roles of users that an identity provider provisions. */
function composeGroupRoles(
  app: FastifyInstance,
  { keys, snapshot, reportError, broadcast }: CompleteServiceDeps,
): GroupRoles | undefined {
  if (keys?.scim === undefined) return undefined;
  const groupRoles = new GroupRoles({ store: keys.scim, isShared: keys.isShared, snapshot, reportError, broadcast });
  app.addHook('onClose', async () => groupRoles.close());
  return groupRoles;
}

/** Interval of the checks for calls whose configured key has expired or was revoked. */
const keySweepMs = 1_000;

/** Ends calls in progress whose configured key has expired or was revoked. */
function endCallsOfRevokedKeys(
  app: FastifyInstance,
  { snapshot, clock, reportError }: CompleteServiceDeps,
  inFlightCalls: InFlightCalls,
): void {
  const tasks = new RecurringTasks(reportError);
  let { keys } = snapshot();
  tasks.every(keySweepMs, 'cannot end calls of revoked keys', async () => {
    const hasChanged = snapshot().keys !== keys;
    keys = snapshot().keys;
    if (!hasChanged && !keys.hasExpiringKeys) return;
    inFlightCalls.abortMatching(
      (caller) => hasExpired(caller, clock.epochMs()) || wasRevoked(caller, keys),
      createKeyEndedError(),
    );
  });
  app.addHook('onClose', async () => tasks.close());
}

function createKeyEndedError(): ParleyError {
  return createUnauthorizedError('invalid_api_key', 'The key of this call was deleted, was replaced, or has expired.');
}
