import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import fastify, { type FastifyInstance } from 'fastify';
import { Balance } from '#domain/balance.ts';
import { createIdentify, type Identify } from '#domain/identify.ts';
import type { NoteAudit } from '#domain/journal.ts';
import { defaultFileLimits, StoredFiles } from '#domain/stored-files.ts';
import { createSignInWays } from '#identity/sign-in-ways.ts';
import { createTokenVerifier } from '#identity/token-verifier.ts';
import { AddinMount } from '#surfaces/addin/mount.ts';
import { adminRoutes } from '#surfaces/admin/routes.ts';
import { importRoutes } from '#surfaces/applications/import-routes.ts';
import { applicationRoutes } from '#surfaces/applications/routes.ts';
import { compatRoutes } from '#surfaces/compat/routes.ts';
import { consentRoutes } from '#surfaces/consent/routes.ts';
import { fileRoutes } from '#surfaces/files/routes.ts';
import { answersToMalformed, refuseOddHeads } from '#surfaces/http/answer-malformed.ts';
import { headPatience, paceBodies } from '#surfaces/http/body-pace.ts';
import { Door } from '#surfaces/http/door.ts';
import { answerErrors } from '#surfaces/http/on-error.ts';
import { OpenCalls } from '#surfaces/http/open-calls.ts';
import { ShortWay } from '#surfaces/http/short-way.ts';
import { callerRoutes } from '#surfaces/listings/caller-routes.ts';
import { listingRoutes } from '#surfaces/listings/routes.ts';
import { schemaRoutes } from '#surfaces/listings/schema-routes.ts';
import { mcpRoutes } from '#surfaces/mcp/routes.ts';
import { messagesRoutes } from '#surfaces/msgapi/routes.ts';
import { speechAt } from '#surfaces/msgapi/speech.ts';
import { uiRoutes } from '#surfaces/ui/routes.ts';
import { signInRoutes } from '#surfaces/ui/sign-in-routes.ts';
import { mountedAddin } from './addin/mounted.ts';
import { composeLine, type Line, type WholeParts } from './compose-line.ts';
import { createImportDocument } from './import-document.ts';
import type { ServiceParts } from './service-parts.ts';

const routerOptions = { maxParamLength: 4096 };
/** Connections are kept long enough for balancers in front. */
const httpOptions = { ...headPatience, requireHostHeader: false, keepAliveTimeout: 75_000 };

export interface Service {
  readonly app: FastifyInstance;
  readonly openCalls: OpenCalls;
  readonly balance: Balance;
  /** Has the documents of the configuration in force read, in the background. */
  readonly prepareDocuments: () => void;
}

/** Builds everything a node serves out of its parts; listens to nothing yet. */
export function composeService(given: ServiceParts): Service {
  const nothing = (): void => undefined;
  const balance = given.balance ?? new Balance();
  const parts: WholeParts = { noteFault: nothing, noteGraph: nothing, noteAudit: nothing, ...given, balance };
  const { directory } = parts;
  const openCalls = new OpenCalls();
  const line = composeLine(parts);
  const app = createServer(parts);
  app.addHook('onClose', () => line.mcp.close());
  app.addHook('onClose', () => line.documents.close());
  parts.prepare?.(app);
  const identify = composeIdentify(parts);
  addCallRoutes(app, parts, { ...line, identify, openCalls });
  addOtherRoutes(app, parts, { ...line, identify });
  const prepareDocuments = (): void => line.documents.prepare(() => directory().deployments.values());
  return { app, openCalls, balance, prepareDocuments };
}

/** A server that answers what no route takes. */
function createServer({ directory, noteFault, tls }: WholeParts): FastifyInstance {
  const addin = new AddinMount(mountedAddin(directory));
  const shortWay = new ShortWay(randomUUID, addin.takes);
  const app: FastifyInstance = fastify({
    routerOptions,
    rewriteUrl: addin.rewriteUrl,
    ...answersToMalformed(randomUUID),
    serverFactory(framework) {
      const listener = shortWay.before(framework);
      return tls === undefined
        ? createHttpServer(httpOptions, listener)
        : createHttpsServer({ ...httpOptions, ...tls }, listener);
    },
  });
  paceBodies(app.server);
  shortWay.learn(app);
  addin.guard(app);
  refuseOddHeads(app);
  answerErrors(app, {
    noteFault: (error, id) => noteFault(`request ${id} failed`, error),
    speechAt: speechAt(directory().configuration.aliases.msgapi),
  });
  return app;
}

function composeIdentify({ directory, http, clock, stores, noteFault, noteAudit }: WholeParts): Identify {
  const noteRefusal = (code: string): void =>
    noteAudit({ action: 'credentials.refused', subject: undefined, object: undefined, details: { code } });
  const verifyToken = createTokenVerifier({ directory, http, clock, noteFault });
  return createIdentify(directory, stores.perRequestKeys, { verifyToken, noteRefusal });
}

type Behind = Line & { readonly identify: Identify };

/** Where deployments are called, in each dialect, and listed. */
function addCallRoutes(app: FastifyInstance, parts: WholeParts, behind: Behind & Pick<Service, 'openCalls'>): void {
  const { directory, clock, telemetry } = parts;
  const { identify, catalog, complete, embed, countTokens, openCalls } = behind;
  const { aliases } = directory().configuration;
  const maxBodyBytes = () => directory().configuration.security.maxBodyBytes;
  const door = new Door({ clock, identify, maxBodyBytes, openCalls, telemetry });
  const prefixes = ['compat', ...aliases.compat];
  const createdSeconds = Math.floor(clock.epochMs() / 1000);
  compatRoutes(app, { door, complete, embed, prefixes });
  messagesRoutes(app, { door, complete, countTokens, directory, catalog, identify, aliases: aliases.msgapi, createdSeconds });
  mcpRoutes(app, { door, complete, directory, catalog });
  listingRoutes(app, { directory, catalog, identify, prefixes, createdSeconds });
}

/** What belongs to callers and makers: limits, applications, files, consent, the page. */
function addOtherRoutes(app: FastifyInstance, parts: WholeParts, behind: Behind): void {
  const { directory, clock, noteFault, noteAudit } = parts;
  const { identify, catalog, counters, consent, documents, guarded } = behind;
  const store = parts.stores.applications;
  callerRoutes(app, { directory, catalog, identify, counters, clock, documents: (deployment) => documents.progress(deployment) });
  schemaRoutes(app, { identify });
  importRoutes(app, {
    directory,
    identify,
    importDocument: createImportDocument(guarded, () => directory().configuration.tools),
  });
  const prepareSaved = (id: string): void =>
    documents.prepare(async () => [await catalog.find(directory(), id)].filter((saved) => saved !== undefined));
  const noteSaved = hearingOfSaves(noteAudit, prepareSaved);
  applicationRoutes(app, { directory, identify, store, catalog, clock, newId: randomUUID, noteAudit: noteSaved });
  if (parts.files !== undefined) {
    const files = new StoredFiles({ ...defaultFileLimits, ...parts.files, clock, newId: randomUUID, noteFault });
    fileRoutes(app, { files, identify });
  }
  if (parts.admin !== undefined) adminRoutes(app, { ...parts.admin, identify, clock });
  consentRoutes(app, { ...consent, directory, identify, clock, noteAudit });
  const listWays = createSignInWays({ directory, http: parts.http, clock, noteFault });
  signInRoutes(app, { listWays });
  uiRoutes(app, { listWays });
}

/** The same for applications, which tells of each that was saved, whichever way. */
function hearingOfSaves(noteAudit: NoteAudit, saved: (id: string) => void): NoteAudit {
  return (event) => {
    noteAudit(event);
    if (event.action === 'application.saved' && event.object !== undefined) saved(event.object);
  };
}
