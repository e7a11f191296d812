import { randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance } from 'fastify';
import type { Clock } from '#base/clock.ts';
import type { HttpClient } from '#base/http/client.ts';
import type { Seal } from '#base/seal.ts';
import { createAdmit } from '#dispatch/admit.ts';
import { createAnswer } from '#dispatch/answer.ts';
import { createComplete } from '#dispatch/complete.ts';
import { createCountTokens } from '#dispatch/count-tokens.ts';
import { createEmbed } from '#dispatch/embed.ts';
import { withAddons } from '#dispatch/with-addons.ts';
import { withQuickApps } from '#dispatch/with-quick-apps.ts';
import { Balance } from '#domain/balance.ts';
import type { Caller } from '#domain/caller.ts';
import { Catalog } from '#domain/catalog.ts';
import { createRequireConsent } from '#domain/consent.ts';
import type { DependencyGraph } from '#domain/dependency-graph.ts';
import type { Directory } from '#domain/directory.ts';
import type { Embedder } from '#domain/embedder.ts';
import { createIdentify } from '#domain/identify.ts';
import type { NoteAudit } from '#domain/journal.ts';
import { LimitCounters } from '#domain/limit-counters.ts';
import { dependenciesFor } from '#domain/quick-app/deployments-as-tools.ts';
import { defaultFileLimits, StoredFiles, type StoredFilesParts } from '#domain/stored-files.ts';
import type { Telemetry } from '#domain/telemetry.ts';
import type { ChatProtocol, ProtocolName, Upstream } from '#domain/upstream.ts';
import { createTokenVerifier } from '#identity/token-verifier.ts';
import { RunStates, type StateSigner } from '#runtime/quick-app/run-state.ts';
import { AddinMount } from '#surfaces/addin/mount.ts';
import { importRoutes } from '#surfaces/applications/import-routes.ts';
import { applicationRoutes } from '#surfaces/applications/routes.ts';
import { compatRoutes } from '#surfaces/compat/routes.ts';
import { consentRoutes } from '#surfaces/consent/routes.ts';
import { fileRoutes } from '#surfaces/files/routes.ts';
import { answersToMalformed } from '#surfaces/http/answer-malformed.ts';
import { headPatience, paceBodies } from '#surfaces/http/body-pace.ts';
import { Door } from '#surfaces/http/door.ts';
import { answerErrors } from '#surfaces/http/on-error.ts';
import { OpenCalls } from '#surfaces/http/open-calls.ts';
import { callerRoutes } from '#surfaces/listings/caller-routes.ts';
import { listingRoutes } from '#surfaces/listings/routes.ts';
import { schemaRoutes } from '#surfaces/listings/schema-routes.ts';
import { messagesRoutes } from '#surfaces/msgapi/routes.ts';
import { speechAt } from '#surfaces/msgapi/speech.ts';
import { uiRoutes } from '#surfaces/ui/routes.ts';
import { McpTools } from '#tools/mcp/mcp-tools.ts';
import { createAnthropicProtocol } from '#upstreams/anthropic/anthropic-protocol.ts';
import { createDemoProtocol } from '#upstreams/demo/demo-protocol.ts';
import { createOpenAiProtocol } from '#upstreams/openai/openai-protocol.ts';
import type { VendorName } from '#upstreams/vendor/dialect.ts';
import { createVendorProtocol } from '#upstreams/vendor/vendor-protocol.ts';
import { withChoices } from '#upstreams/with-choices.ts';
import { withFunctions } from '#upstreams/with-functions.ts';
import { mountedAddin } from './addin/mounted.ts';
import { DocumentTools, type PassageStore } from './document-tools.ts';
import { createImportDocument } from './import-document.ts';
import type { Stores } from './open-stores.ts';
import { createToolSources } from './tool-sources.ts';

const demoPaceMs = 15;
/** Long enough for balancers in front. */
const serverOptions = { routerOptions: { maxParamLength: 4096 }, keepAliveTimeout: 75_000 };

export interface ServiceParts {
  readonly directory: () => Directory;
  readonly http: HttpClient;
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Health of the upstreams, where others look at it too. */
  readonly balance?: Balance;
  readonly stores: Omit<Stores, 'files' | 'passages' | 'journal' | 'bulletin'>;
  /** Where files are stored, and how much of them. Absent: none are, and their paths are not served. */
  readonly files?: Pick<StoredFilesParts, 'index' | 'blobs'> & Partial<typeof defaultFileLimits>;
  /** Where it is kept what stands in them. Absent: quick apps cannot look anything up. */
  readonly passages?: PassageStore;
  /** Hears of each dependency graph that is walked, and what dangles in it. */
  readonly noteGraph?: (graph: DependencyGraph) => void;
  /** Hears of what the audit log should have. */
  readonly noteAudit?: NoteAudit;
  /** Hears of faults that callers are told nothing of. */
  readonly noteFault?: (message: string, thrown: unknown) => void;
  /** Hears what of a request the dialect of its upstream has nothing for. */
  readonly noteLost?: (upstream: Upstream, what: string) => void;
  /** Served over TLS where given, in PEM. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** What else is to stand on every route; runs before any is registered. */
  readonly prepare?: (app: FastifyInstance) => void;
}

export interface Service {
  readonly app: FastifyInstance;
  readonly openCalls: OpenCalls;
  readonly balance: Balance;
}

/** Builds everything a node serves out of its parts; listens to nothing yet. */
export function composeService(parts: ServiceParts): Service {
  const {
    directory,
    clock,
    telemetry,
    balance = new Balance(),
    noteFault = () => undefined,
    noteGraph = () => undefined,
    noteAudit = () => undefined,
  } = parts;
  const openCalls = new OpenCalls();
  const { perRequestKeys, consents, applications, limits, seal } = parts.stores;
  const noteRefusal = (code: string): void =>
    noteAudit({ action: 'credentials.refused', subject: undefined, object: undefined, details: { code } });
  const verifyToken = createTokenVerifier({ directory, http: parts.http, clock, noteFault });
  const identify = createIdentify(directory, perRequestKeys, { verifyToken, noteRefusal });
  const catalog = new Catalog(applications);
  const states = new RunStates(toStateSigner(seal));
  const mcp = new McpTools(clock);
  const documents = new DocumentTools({
    ...{ files: parts.files, passages: parts.passages, embedder: parts.embedder, directory, clock, noteFault },
    serviceEmbed: { embed: (call) => embed(call), telemetry, clock, newId: randomUUID },
  });
  const toolSources = createToolSources(clock, { mcp, documents });
  const guarded: HttpClient = {
    send: (request, listener) => toolSources(directory().configuration).sources.http.send(request, listener),
    close: () => undefined,
  };
  const answerTools = { balance, clock, protocols: composeProtocols(parts, guarded), perRequestKeys };
  const answer = withQuickApps(
    withAddons(createAnswer(answerTools), { addonTools: (configuration) => toolSources(configuration).addons, clock, noteFault }),
    {
      complete: (call) => complete(call),
      toolSources: (configuration) => toolSources(configuration).sources,
      ...{ catalog, states, telemetry, clock, noteFault, noteGraph },
    },
  );
  const counters = new LimitCounters(limits, clock);
  const admit = createAdmit({ counters, clock, noteFault });
  const consent = {
    store: consents,
    dependencies: (now: Directory, caller: Caller) => dependenciesFor({ catalog, directory: now, caller }),
    noteGraph,
  };
  const requireConsent = createRequireConsent(consent);
  const complete = createComplete({ directory, catalog, states, clock, requireConsent, admit, answer });
  const embed = createEmbed({ ...answerTools, directory, catalog, requireConsent, admit });
  const countTokens = createCountTokens({ ...answerTools, directory, catalog, requireConsent });
  const addin = new AddinMount(mountedAddin(directory));
  const app: FastifyInstance = fastify({
    ...serverOptions,
    rewriteUrl: addin.rewriteUrl,
    ...answersToMalformed(randomUUID),
    ...(parts.tls === undefined ? { http: headPatience } : { https: { ...headPatience, ...parts.tls } }),
  });
  paceBodies(app.server);
  addin.guard(app);
  const maxBodyBytes = () => directory().configuration.security.maxBodyBytes;
  const door = new Door({ clock, newId: randomUUID, identify, maxBodyBytes, openCalls, telemetry });
  const prefixes = ['compat', ...directory().configuration.aliases.compat];
  const messagesAliases = directory().configuration.aliases.msgapi;
  answerErrors(app, {
    newId: randomUUID,
    noteFault: (error, id) => noteFault(`request ${id} failed`, error),
    speechAt: speechAt(messagesAliases),
  });
  app.addHook('onClose', () => mcp.close());
  app.addHook('onClose', () => documents.close());
  parts.prepare?.(app);
  compatRoutes(app, { door, complete, embed, prefixes });
  const createdSeconds = Math.floor(clock.epochMs() / 1000);
  messagesRoutes(app, { door, complete, countTokens, directory, catalog, identify, aliases: messagesAliases, createdSeconds });
  listingRoutes(app, { directory, catalog, identify, prefixes, createdSeconds });
  callerRoutes(app, { directory, catalog, identify, counters, clock });
  schemaRoutes(app, { identify });
  const importDocument = createImportDocument(guarded, () => directory().configuration.tools);
  importRoutes(app, { directory, identify, importDocument });
  applicationRoutes(app, { directory, identify, store: applications, catalog, clock, newId: randomUUID, noteAudit });
  if (parts.files !== undefined) {
    const files = new StoredFiles({ ...defaultFileLimits, ...parts.files, clock, newId: randomUUID, noteFault });
    fileRoutes(app, { files, identify });
  }
  consentRoutes(app, { ...consent, directory, identify, clock, noteAudit });
  uiRoutes(app);
  return { app, openCalls, balance };
}

function toStateSigner(seal: Seal): StateSigner {
  const purpose = 'state of a quick app';
  return { sign: (text) => seal.sign(text, purpose), verify: (text, signature) => seal.verify(text, signature, purpose) };
}

/** `guarded` reaches what users may steer. */
function composeProtocols(
  { http, embedder, clock, noteLost = () => undefined }: ServiceParts,
  guarded: HttpClient,
): Partial<Record<ProtocolName, ChatProtocol>> {
  const demo = createDemoProtocol({ embedder, now: () => clock.epochMs(), newId: randomUUID, paceMs: demoPaceMs });
  const vendor = (name: VendorName): ChatProtocol =>
    withFunctions(withChoices(createVendorProtocol(name, { http, clock, noteLost })));
  return {
    openai: withFunctions(createOpenAiProtocol(http, 'openai')),
    azure: withFunctions(createOpenAiProtocol(http, 'azure')),
    application: eitherOf(createOpenAiProtocol(http, 'application'), createOpenAiProtocol(guarded, 'application')),
    anthropic: withFunctions(withChoices(createAnthropicProtocol(http, clock))),
    bedrock: vendor('bedrock'),
    vertex: vendor('vertex'),
    gemini: vendor('gemini'),
    mistral: vendor('mistral'),
    demo: withFunctions(withChoices(demo)),
  };
}

function eitherOf(open: ChatProtocol, guarded: ChatProtocol): ChatProtocol {
  return { hasChoices: open.hasChoices, chat: (ask) => (ask.upstream.isGuarded ? guarded : open).chat(ask) };
}
