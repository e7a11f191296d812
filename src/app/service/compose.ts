import { randomBytes, randomUUID } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import fastify, { type FastifyInstance } from 'fastify';
import { Caches } from '#base/cache/cache-registry.ts';
import { createLetterIds } from '#base/text/letter-id.ts';
import { Recurring } from '#base/time/recurring.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import { BlockedUsers, userBlocked } from '#domain/callers/blocked-users.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { createIdentify, hasExpired, type Identify, unauthorized } from '#domain/callers/identify.ts';
import { MadeKeys } from '#domain/callers/made-keys.ts';
import { ApplicationResources } from '#domain/deployments/application-resources.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { deletingOwnFiles } from '#domain/files/deleting-own-files.ts';
import { defaultFileLimits, StoredResources } from '#domain/files/stored-resources.ts';
import { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { NoteAudit } from '#domain/usage/journal.ts';
import { createSignInWays } from '#identity/sign-in-ways.ts';
import { createTokenVerifier } from '#identity/token-verifier.ts';
import { AddinMount } from '#surfaces/addin/mount.ts';
import { adminRoutes } from '#surfaces/admin/routes.ts';
import { adminUserRoutes } from '#surfaces/admin/user-routes.ts';
import { importRoutes } from '#surfaces/applications/import-routes.ts';
import { applicationRoutes } from '#surfaces/applications/routes.ts';
import { toolRoutes } from '#surfaces/applications/tool-routes.ts';
import { chatRoutes } from '#surfaces/chats/routes.ts';
import { shareRoutes } from '#surfaces/chats/share-routes.ts';
import { compatErrorDialectAt } from '#surfaces/compat/error-dialect.ts';
import { otherFormsOfCalls } from '#surfaces/compat/operations.ts';
import { compatRoutes } from '#surfaces/compat/routes.ts';
import { consentRoutes } from '#surfaces/consent/routes.ts';
import { RatingQuota, ratingQuotaBounds } from '#surfaces/features/rating-quota.ts';
import { featureRoutes, toRatePath } from '#surfaces/features/routes.ts';
import { resourceRoutes } from '#surfaces/files/resources/routes.ts';
import { fileRoutes } from '#surfaces/files/routes.ts';
import { answersToMalformed, refuseOddHeads } from '#surfaces/http/answer-malformed.ts';
import { answerMethods } from '#surfaces/http/answer-methods.ts';
import { headPatience, paceBodies } from '#surfaces/http/body-pace.ts';
import { answerOrigins } from '#surfaces/http/cross-origin.ts';
import { FastPath } from '#surfaces/http/fast-path.ts';
import { answerErrors } from '#surfaces/http/framework-errors.ts';
import { InFlightCalls } from '#surfaces/http/in-flight-calls.ts';
import type { MethodOfPath } from '#surfaces/http/operations/path-methods.ts';
import { RequestHandler } from '#surfaces/http/request-handler.ts';
import { requireHttps } from '#surfaces/http/strict-transport.ts';
import { keyRoutes } from '#surfaces/keys/routes.ts';
import { addonRoutes } from '#surfaces/listings/addon-routes.ts';
import { callerRoutes } from '#surfaces/listings/caller-routes.ts';
import { listingRoutes } from '#surfaces/listings/routes.ts';
import { schemaRoutes } from '#surfaces/listings/schema-routes.ts';
import { mcpRoutes } from '#surfaces/mcp/routes.ts';
import { errorDialectAt } from '#surfaces/messages/error-dialect.ts';
import { messagesRoutes } from '#surfaces/messages/routes.ts';
import { createPassThrough } from '#surfaces/passthrough/serve-pass-through.ts';
import { createServeResponses, type ResponsesDeps, responsesRoutes } from '#surfaces/responses/routes.ts';
import { uiRoutes } from '#surfaces/ui/routes.ts';
import { mountedAddin } from '../addin/mounted.ts';
import { apiOperations } from './api-operations.ts';
import { type CompleteServiceDeps, composeLine, type Line } from './compose-calls.ts';
import { composeEvaluations } from './compose-evaluations.ts';
import { composeResponses } from './compose-responses.ts';
import { createImportDocument } from './import-document.ts';
import type { ServiceDeps } from './service-parts.ts';

const routerOptions = { maxParamLength: 4096 };
/** Connections are kept long enough for balancers in front. */
const httpOptions = { ...headPatience, requireHostHeader: false, keepAliveTimeout: 75_000 };

/** No route has a schema of Fastify's kind. With this in their place, Fastify loads no compilers for them: 0.5 MB of script. */
const noSchemas = (): never => {
  throw new Error('a route has a schema, for which there is no compiler');
};

export interface Service {
  readonly app: FastifyInstance;
  readonly inFlightCalls: InFlightCalls;
  readonly loadBalancer: LoadBalancer;
  /** Has the documents of the configuration in force read, in the background. */
  readonly prepareDocuments: () => void;
}

/** Builds everything a node serves out of its parts; listens to nothing yet. */
export function composeService(given: ServiceDeps): Service {
  const nothing = (): void => undefined;
  const loadBalancer = given.loadBalancer ?? new LoadBalancer();
  const parts: CompleteServiceDeps = {
    noteFault: nothing,
    noteGraph: nothing,
    noteAudit: nothing,
    caches: new Caches(),
    ...given,
    loadBalancer,
  };
  const { snapshot } = parts;
  const inFlightCalls = new InFlightCalls();
  const line = composeLine(parts);
  const app = createServer(parts);
  app.addHook('onClose', () => line.mcp.close());
  app.addHook('onClose', () => line.documents.close());
  parts.prepare?.(app);
  const madeKeys = composeMadeKeys(app, parts, inFlightCalls);
  endExpiredCalls(app, parts, inFlightCalls);
  const blockedUsers = composeBlockedUsers(app, parts, inFlightCalls);
  const identify = composeIdentify(parts, { madeKeys, blockedUsers });
  addCallRoutes(app, parts, { ...line, identify, inFlightCalls, madeKeys, blockedUsers });
  addOtherRoutes(app, parts, { ...line, identify, madeKeys, blockedUsers });
  composeEvaluations(app, parts, { innerCalls: line.innerCalls, identify, inFlightCalls });
  const prepareDocuments = (): void => line.documents.prepare(() => snapshot().deployments.values());
  return { app, inFlightCalls, loadBalancer, prepareDocuments };
}

/** A server that answers what no route takes. */
function createServer({ snapshot, noteFault, tls }: CompleteServiceDeps): FastifyInstance {
  const { aliases } = snapshot().configuration;
  const allowedOrigins = () => snapshot().configuration.security.allowedOrigins;
  const dialectAt = errorDialectAt(aliases.msgapi, compatErrorDialectAt(['compat', ...aliases.compat]));
  const addin = new AddinMount(mountedAddin(snapshot));
  const newRequestId = createLetterIds();
  const fastPath = new FastPath(newRequestId);
  const app: FastifyInstance = fastify({
    routerOptions,
    rewriteUrl: (request) => toRatePath(request.method, addin.rewriteUrl(request)),
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    ...answersToMalformed(newRequestId, dialectAt),
    serverFactory(framework) {
      const listener = answerOrigins(fastPath.before(framework), { snapshot, isReserved: addin.takes });
      return tls === undefined
        ? createHttpServer(httpOptions, listener)
        : createHttpsServer({ ...httpOptions, ...tls }, requireHttps(listener));
    },
  });
  paceBodies(app.server);
  fastPath.learn(app);
  addin.guard(app);
  refuseOddHeads(app);
  answerErrors(app, {
    noteFault: (error, id) => noteFault(`request ${id} failed`, error),
    errorDialectAt: dialectAt,
  });
  answerMethods(app, { operations: () => pathsOf(aliases), allowedOrigins });
  return app;
}

function pathsOf(aliases: Configuration['aliases']): readonly MethodOfPath[] {
  return [...apiOperations({ aliases }), ...otherFormsOfCalls(['compat', ...aliases.compat])];
}

function composeIdentify(
  { snapshot, http, clock, caches, stores, noteFault, noteAudit }: CompleteServiceDeps,
  { madeKeys, blockedUsers }: Pick<Behind, 'madeKeys' | 'blockedUsers'>,
): Identify {
  const noteRefusal = (code: string): void =>
    noteAudit({ action: 'credentials.refused', subject: undefined, object: undefined, details: { code } });
  const noteSignIn = madeKeys && ((caller: Caller) => madeKeys.noteSignIn(caller));
  const verifyToken = createTokenVerifier({ snapshot, http, clock, caches, noteFault, noteSignIn });
  return createIdentify(snapshot, stores.perRequestKeys, { verifyToken, clock, madeKeys, blockedUsers, noteRefusal });
}

/** The keys that users made. What goes on with one that is no longer in force is ended. */
function composeMadeKeys(
  app: FastifyInstance,
  { keys, snapshot, clock, noteFault }: CompleteServiceDeps,
  inFlightCalls: InFlightCalls,
): MadeKeys | undefined {
  if (keys === undefined) return undefined;
  const madeKeys = new MadeKeys({ ...keys, snapshot, clock, noteFault });
  madeKeys.onChange(() => inFlightCalls.abortOf((caller) => madeKeys.hasEnded(caller), keyEnded()));
  app.addHook('onClose', () => madeKeys.close());
  return madeKeys;
}

/** The users that administrators blocked. Their calls in progress end. */
function composeBlockedUsers(
  app: FastifyInstance,
  { keys, noteFault }: CompleteServiceDeps,
  inFlightCalls: InFlightCalls,
): BlockedUsers | undefined {
  if (keys === undefined) return undefined;
  const blockedUsers = new BlockedUsers({ store: keys.blockedUsers, isShared: keys.isShared, noteFault });
  blockedUsers.onChange(() => inFlightCalls.abortOf((caller) => blockedUsers.has(caller), userBlocked()));
  app.addHook('onClose', async () => blockedUsers.close());
  return blockedUsers;
}

/** How soon calls end after the key of a configuration file that started them expires. */
const expirySweepMs = 1_000;

/** Ends calls in progress whose key of a configuration file expires. */
function endExpiredCalls(
  app: FastifyInstance,
  { snapshot, clock, noteFault }: CompleteServiceDeps,
  inFlightCalls: InFlightCalls,
): void {
  const recurring = new Recurring(noteFault);
  recurring.every(expirySweepMs, 'calls of expired keys could not be ended', async () => {
    if (snapshot().keys.hasExpiringKeys) inFlightCalls.abortOf((caller) => hasExpired(caller, clock.epochMs()), keyEnded());
  });
  app.addHook('onClose', async () => recurring.close());
}

function keyEnded(): ParleyError {
  return unauthorized('invalid_api_key', 'The key that began this was deleted, was replaced or has expired.');
}

/** What nobody can guess: 256 bits. */
const newSecret = (): string => randomBytes(32).toString('base64url');

interface Behind extends Line {
  readonly identify: Identify;
  readonly madeKeys: MadeKeys | undefined;
  readonly blockedUsers: BlockedUsers | undefined;
}

/** Where deployments are called, in each dialect, and listed. */
function addCallRoutes(app: FastifyInstance, parts: CompleteServiceDeps, behind: Behind & Pick<Service, 'inFlightCalls'>): void {
  const { snapshot, clock, telemetry } = parts;
  const { identify, catalog, calls, inFlightCalls, madeKeys, blockedUsers } = behind;
  const { aliases } = snapshot().configuration;
  const handler = new RequestHandler({ clock, identify, snapshot, inFlightCalls, telemetry });
  const { compat } = aliases;
  const modelPaths = ['/v1/models', ...compat.map((alias) => `/${alias}/v1/models`)];
  const createdSeconds = Math.floor(clock.epochMs() / 1000);
  messagesRoutes(app, { handler, calls, snapshot, catalog, identify, aliases: aliases.msgapi, createdSeconds });
  const stored = composeResponses(parts, {
    ...{ identify, calls, inFlightCalls },
    hasEnded: (caller) =>
      madeKeys?.hasEnded(caller) === true || blockedUsers?.has(caller) === true || hasExpired(caller, clock.epochMs()),
  });
  stored?.addRoutes(app, compat);
  const responsesDeps: ResponsesDeps = {
    ...stored?.surface,
    handler,
    calls,
    seal: parts.stores.seal,
    newId: createLetterIds(),
    aliases: compat,
  };
  responsesRoutes(app, responsesDeps);
  compatRoutes(app, {
    handler,
    calls,
    passThrough: createPassThrough({ handler, calls, maxFormBytes: () => snapshot().configuration.files.maxFileBytes }),
    serveResponses: createServeResponses(responsesDeps),
    aliases: compat,
  });
  const ratings = new RatingQuota(parts.caches.open('ratings', ratingQuotaBounds), parts.clock);
  const others = featureRoutes({ handler, calls, snapshot, catalog, noteAudit: parts.noteAudit, ratings });
  mcpRoutes(app, { handler, calls, snapshot, catalog, others });
  listingRoutes(app, { snapshot, catalog, identify, prefixes: ['compat', ...compat], modelPaths, createdSeconds });
  addonRoutes(app, { snapshot, identify, prefixes: ['compat', ...compat], createdSeconds });
}

/** What belongs to callers and makers: limits, applications, files, consent, the page. */
function addOtherRoutes(app: FastifyInstance, parts: CompleteServiceDeps, behind: Behind): void {
  const { snapshot, clock, noteFault, noteAudit } = parts;
  const { identify, catalog, calls, counters, consent, documents, openApi, guarded, starters, survey, tryTool, madeKeys } =
    behind;
  const contents =
    parts.files &&
    new StoredResources({
      ...defaultFileLimits,
      ...parts.files,
      bounds: () => snapshot().configuration.files,
      clock,
      newId: randomUUID,
      noteFault,
    });
  const { applications } = parts.stores;
  const store = contents === undefined ? applications : deletingOwnFiles(applications, contents, noteFault);
  const progress = (deployment: Deployment) => documents.progress(deployment);
  const sharesChats = parts.shares !== undefined;
  const keysToMake = (caller: Caller) => madeKeys?.rightOf(caller);
  callerRoutes(app, {
    sharesChats,
    keysToMake,
    snapshot,
    catalog,
    identify,
    calls,
    counters,
    clock,
    documents: progress,
    starters,
  });
  if (parts.keys !== undefined && madeKeys !== undefined)
    keyRoutes(app, { ...parts.keys, madeKeys, snapshot, identify, clock, newId: randomUUID, newSecret, noteAudit });
  schemaRoutes(app, { identify });
  importRoutes(app, {
    snapshot,
    identify,
    importDocument: createImportDocument({ http: guarded, reader: openApi, limits: () => snapshot().configuration.tools }),
  });
  toolRoutes(app, { snapshot, identify, store, survey, tryTool });
  const prepareSaved = (id: string): void =>
    documents.prepare(async () => [await catalog.findStored(id)].filter((saved) => saved !== undefined));
  const noteSaved = hearingOfSaves(noteAudit, prepareSaved);
  const files = parts.files?.index;
  applicationRoutes(app, { snapshot, identify, store, catalog, files, survey, clock, newId: randomUUID, noteAudit: noteSaved });
  if (contents !== undefined) {
    const resources = new ApplicationResources({ store, clock, newId: randomUUID, noteAudit: noteSaved });
    fileRoutes(app, { files: contents, identify });
    resourceRoutes(app, { snapshot, identify, contents, applications: resources });
  }
  addChatRoutes(app, parts, { identify, files: contents });
  if (parts.admin !== undefined) addAdminRoutes(app, parts, behind);
  consentRoutes(app, { ...consent, snapshot, catalog, identify, clock, noteAudit });
  const listWays = createSignInWays({ snapshot, http: parts.http, clock, caches: parts.caches, noteFault });
  uiRoutes(app, { listWays, settings: () => snapshot().configuration.page });
}

function addAdminRoutes(app: FastifyInstance, parts: CompleteServiceDeps, behind: Behind): void {
  const { admin, keys, clock, noteAudit } = parts;
  const { identify, madeKeys, blockedUsers } = behind;
  if (admin === undefined) return;
  adminRoutes(app, { ...admin, identify, clock });
  if (keys === undefined || madeKeys === undefined || blockedUsers === undefined) return;
  const { store, blockedUsers: blockedUserStore } = keys;
  adminUserRoutes(app, { identify, clock, store, madeKeys, blockedUserStore, blockedUsers, noteAudit });
}

/** The conversations of the page, and what is shared of them. */
function addChatRoutes(
  app: FastifyInstance,
  { chats, shares, snapshot, clock, noteAudit }: CompleteServiceDeps,
  behind: { readonly identify: Identify; readonly files: StoredResources | undefined },
): void {
  if (chats === undefined) return;
  const deps = { ...behind, chats, snapshot, clock };
  chatRoutes(app, deps);
  if (shares !== undefined) shareRoutes(app, { ...deps, shares, newId: randomUUID, newToken: newSecret, noteAudit });
}

/** The same for applications, which tells of each that was saved, whichever way. */
function hearingOfSaves(noteAudit: NoteAudit, saved: (id: string) => void): NoteAudit {
  return (event) => {
    noteAudit(event);
    if (event.action === 'application.saved' && event.object !== undefined) saved(event.object);
  };
}
