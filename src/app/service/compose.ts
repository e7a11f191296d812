import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import fastify, { type FastifyInstance } from 'fastify';
import { Caches } from '#base/cache/bounded-cache.ts';
import { createLetterIds } from '#base/text/letter-id.ts';
import { Recurring } from '#base/time/recurring.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import { userBlocked } from '#domain/callers/blocked-users.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { createIdentify, hasExpired, type Identify, unauthorized } from '#domain/callers/identify.ts';
import { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { NoteAudit } from '#domain/usage/journal.ts';
import { createTokenVerifier } from '#identity/token-verifier.ts';
import { deletingOwnFiles } from '#services/files/deleting-own-files.ts';
import { defaultFileLimits, StoredResources } from '#services/files/stored-resources.ts';
import { BlockedUsers } from '#services/keys/blocked-users.ts';
import { MadeKeys } from '#services/keys/made-keys.ts';
import { InFlightCalls } from '#services/node/in-flight-calls.ts';
import { AddinMount, mountedAddin } from '#surfaces/addin/mount.ts';
import { otherFormsOfCalls } from '#surfaces/compat/operations.ts';
import { compatErrorDialectAt } from '#surfaces/compat/replies.ts';
import { toRatePath } from '#surfaces/features/routes.ts';
import { answersToMalformed, refuseOddHeads } from '#surfaces/http/answer-malformed.ts';
import { answerMethods } from '#surfaces/http/answer-methods.ts';
import { headPatience, paceBodies } from '#surfaces/http/body-pace.ts';
import { answerOrigins } from '#surfaces/http/cross-origin.ts';
import { FastPath } from '#surfaces/http/fast-path.ts';
import { answerErrors } from '#surfaces/http/framework-errors.ts';
import type { MethodOfPath } from '#surfaces/http/operations/path-methods.ts';
import { RequestHandler } from '#surfaces/http/request-handler.ts';
import { requireHttps } from '#surfaces/http/strict-transport.ts';
import { errorDialectAt } from '#surfaces/messages/error-dialect.ts';
import { type CompleteServiceDeps, composeLine, type Line } from './compose-calls.ts';
import type { Core } from './feature.ts';
import { apiOperations, features } from './features.ts';
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

/** Builds a service from its parts. It does not listen yet. */
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
  const app = createServer(parts);
  const inFlightCalls = new InFlightCalls();
  const line = composeLine(parts);
  app.addHook('onClose', () => line.mcp.close());
  app.addHook('onClose', () => line.documents.close());
  parts.prepare?.(app);
  const core = composeCore(app, parts, { line, inFlightCalls });
  for (const feature of features) feature.add(core);
  const prepareDocuments = (): void => line.documents.prepare(() => parts.snapshot().deployments.values());
  return { app, inFlightCalls, loadBalancer, prepareDocuments };
}

interface Behind {
  readonly line: Line;
  readonly inFlightCalls: InFlightCalls;
}

function composeCore(app: FastifyInstance, parts: CompleteServiceDeps, { line, inFlightCalls }: Behind): Core {
  const { snapshot, clock, telemetry, noteFault } = parts;
  const madeKeys = composeMadeKeys(app, parts, inFlightCalls);
  endExpiredCalls(app, parts, inFlightCalls);
  const blockedUsers = composeBlockedUsers(app, parts, inFlightCalls);
  const identify = composeIdentify(parts, { madeKeys, blockedUsers });
  const contents = composeContents(parts);
  const { applications } = parts.stores;
  const prepareSaved = (id: string): void =>
    line.documents.prepare(async () => [await line.catalog.findStored(id)].filter((saved) => saved !== undefined));
  return {
    ...parts,
    ...line,
    app,
    identify,
    handler: new RequestHandler({ clock, identify, snapshot, inFlightCalls, telemetry }),
    inFlightCalls,
    madeKeys,
    blockedUsers,
    hasEnded: (caller) =>
      madeKeys?.hasEnded(caller) === true || blockedUsers?.has(caller) === true || hasExpired(caller, clock.epochMs()),
    contents,
    savedApplications: contents === undefined ? applications : deletingOwnFiles(applications, contents, noteFault),
    noteAudit: withSavedApplications(parts.noteAudit, prepareSaved),
    aliases: snapshot().configuration.aliases,
    createdSeconds: Math.floor(clock.epochMs() / 1000),
    deploymentActions: new Map(),
    deploymentApis: {},
  };
}

function composeContents({ files, snapshot, clock, noteFault }: CompleteServiceDeps): StoredResources | undefined {
  if (files === undefined) return undefined;
  const bounds = () => snapshot().configuration.files;
  return new StoredResources({ ...defaultFileLimits, ...files, bounds, clock, newId: randomUUID, noteFault });
}

/** Returns a function that notes audit events, and calls `onSaved` with the ID of each application that is saved. */
function withSavedApplications(noteAudit: NoteAudit, onSaved: (id: string) => void): NoteAudit {
  return (event) => {
    noteAudit(event);
    if (event.action === 'application.saved' && event.object !== undefined) onSaved(event.object);
  };
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
  { madeKeys, blockedUsers }: Pick<Core, 'madeKeys' | 'blockedUsers'>,
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

/** Creates the list of users that administrators blocked. Their calls in progress end. */
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
