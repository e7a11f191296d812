import { randomUUID } from 'node:crypto';
import { AddonTools } from '#agent/addons.ts';
import type { ToolSources } from '#agent/quick-app/load-tools.ts';
import { RunStates, type StateSigner } from '#agent/quick-app/run-state.ts';
import { tryTool } from '#agent/try-tool.ts';
import type { Caches } from '#base/cache/bounded-cache.ts';
import type { HttpClient } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { createGuardedFetch } from '#base/net/guarded-fetch.ts';
import { guardClient, NetGuard } from '#base/net/net-guard.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { createLetterIds } from '#base/text/letter-id.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ProtocolName } from '#contract/configuration/protocols.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Calls } from '#domain/calls/call.ts';
import { createRequireConsent } from '#domain/consent/consent.ts';
import { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { LimitCounters } from '#domain/limits/limit-counters.ts';
import { createDependencySource } from '#domain/quick-app/deployments-as-tools.ts';
import type { McpToolsetSettings, OnUnusablePart, QuickAppToolset } from '#domain/quick-app/quick-app.ts';
import { ToolError } from '#domain/tools/tool.ts';
import type { ChatProtocol } from '#domain/upstreams/upstream.ts';
import { ReplySizes } from '#domain/usage/reply-sizes.ts';
import { createAnswerChat, type Responders } from '#pipeline/answer-chat.ts';
import { answerEmbeddings } from '#pipeline/answer-embeddings.ts';
import { answerPassThrough } from '#pipeline/answer-passthrough.ts';
import { createAuthorize } from '#pipeline/authorize.ts';
import { callApplication } from '#pipeline/call-application.ts';
import { callFeature } from '#pipeline/call-feature.ts';
import { createCallUpstreams, createQuotaListener } from '#pipeline/call-upstream.ts';
import { countTokens } from '#pipeline/count-tokens.ts';
import { InnerCalls } from '#pipeline/inner-calls.ts';
import { createReserveQuota } from '#pipeline/reserve-quota.ts';
import { runQuickApp } from '#pipeline/run-quick-app.ts';
import { runAddons, runRemoteTools } from '#pipeline/run-request-tools.ts';
import { defaultFileLimits } from '#services/files/stored-resources.ts';
import { StoredTexts } from '#services/files/stored-texts.ts';
import type { ToolRoutesDeps } from '#surfaces/applications/tool-routes.ts';
import type { CallerRoutesDeps } from '#surfaces/listings/caller-routes.ts';
import { TokenCache } from '#tools/authorization/token-cache.ts';
import { type McpLoadContext, McpTools } from '#tools/mcp/mcp-tools.ts';
import { OpenApiReader } from '#tools/openapi/load-openapi.ts';
import { createVendorProtocol } from '#upstreams/ai-sdk/vendor-protocol.ts';
import { type VendorName, vendors } from '#upstreams/ai-sdk/vendors.ts';
import { createAnthropicProtocol } from '#upstreams/anthropic/anthropic-protocol.ts';
import { createDemoProtocol } from '#upstreams/demo/demo-protocol.ts';
import { createOpenAiProtocol } from '#upstreams/openai/openai-protocol.ts';
import { readErrorReply } from '#upstreams/openai/read-reply.ts';
import { withChoices, withFunctions, withJsonMode } from '#upstreams/protocol-adapters.ts';
import { createResponsesProtocol } from '#upstreams/responses/responses-protocol.ts';
import { DocumentTools } from './document-tools.ts';
import type { ServiceDeps } from './service-deps.ts';

/** Service dependencies with defaults for the optional ones. */
export type CompleteServiceDeps = ServiceDeps &
  Required<Pick<ServiceDeps, 'caches' | 'loadBalancer' | 'reportError' | 'onDependencyGraph' | 'recordAudit'>>;

/** Call pipeline, and the parts of it that surfaces use. */
export type CallPipeline = ReturnType<typeof composePipeline>;

/** Builds the call pipeline behind the surfaces: lookup, consent, limits, upstreams, and tools. */
export function composePipeline(deps: CompleteServiceDeps) {
  const { snapshot, clock, caches, telemetry, loadBalancer, reportError, onDependencyGraph } = deps;
  const { onRemovedReferences = () => undefined, onUnusablePart = () => undefined } = deps;
  const { perRequestKeys, limits, seal } = deps.stores;
  const newId = createLetterIds();
  const catalog = new Catalog(deps.stores.applications);
  const texts = deps.files && new StoredTexts({ ...defaultFileLimits, ...deps.files, clock, newId: randomUUID, reportError });
  const states = new RunStates(toStateSigner(seal), texts);
  const innerCalls = new InnerCalls({ telemetry, clock, newId });
  const mcp = new McpTools(clock, caches);
  const documents = new DocumentTools({
    files: deps.files,
    passages: deps.passages,
    embedder: deps.embedder,
    snapshot,
    clock,
    caches,
    reportError,
    onMissingDocuments: deps.onMissingDocuments,
    onUnusablePart,
    innerCalls,
  });
  const openApi = new OpenApiReader();
  const toolSources = createToolSources(clock, { mcp, documents, openApi, caches, reportError, onUnusablePart });
  const currentTools = (): ConfiguredTools => toolSources(snapshot().configuration);
  const guardedHttp: HttpClient = {
    send: (request, listener) => currentTools().sources.http.send(request, listener),
    close: () => undefined,
  };
  const counters = new LimitCounters(limits, clock);
  const reserveQuota = createReserveQuota({ counters, sizes: new ReplySizes(), clock, reportError });
  const upstreamDeps = {
    loadBalancer,
    clock,
    protocols: composeProtocols(deps, guardedHttp),
    perRequestKeys,
    reserveQuota,
    onQuotaHeaders: createQuotaListener({ loadBalancer, clock }),
  };
  const callUpstreams = createCallUpstreams(upstreamDeps);
  const applications = { perRequestKeys, callUpstreams };
  const addons = { addonTools: (configuration: Configuration) => toolSources(configuration).addons, clock, newId, reportError };
  const quickApps = {
    toolSources: (configuration: Configuration) => toolSources(configuration).sources,
    innerCalls,
    catalog,
    states,
    clock,
    newId,
    reportError,
    onDependencyGraph,
  };
  const responders: Responders = {
    callUpstreams,
    callApplication: (prepared, sink) => callApplication(applications, prepared, sink),
    runAddons: (prepared, run) => runAddons(addons, prepared, run),
    runQuickApp: (prepared, sink) => runQuickApp(quickApps, prepared, sink),
    runRemoteTools: (prepared, run) => runRemoteTools(quickApps, prepared, run),
  };
  const consent = {
    store: deps.stores.consents,
    openDependencies: (snapshot: ConfigSnapshot, caller: Caller) => createDependencySource({ catalog, snapshot, caller }),
    onDependencyGraph,
  };
  const requireConsent = createRequireConsent(consent);
  const calls: Calls = {
    authorize: createAuthorize({ snapshot, catalog, requireConsent }),
    answer: createAnswerChat({ states, reserveQuota, clock, responders, onRemovedReferences, newId }),
    embed: (target, request, signal) => answerEmbeddings(upstreamDeps, { target, request, signal }),
    passThrough: (target, request, reply) => answerPassThrough(upstreamDeps, { target, request }, reply),
    callFeature: (request, signal) =>
      callFeature({ http: deps.http, guardedHttp, perRequestKeys, requireConsent, reserveQuota }, request, signal),
    countTokens: (target, input, signal) => countTokens(upstreamDeps, { target, ...input, signal }),
  };
  innerCalls.connect(calls);
  const toolRoutes: Pick<ToolRoutesDeps, 'survey' | 'tryTool'> = {
    survey: (settings, signal) => currentTools().survey(settings, signal),
    tryTool: (trial) => currentTools().tryTool(trial),
  };
  const starters: CallerRoutesDeps['starters'] = (deployment, options) =>
    listServerStarters({ starters: currentTools().starters, reportError }, deployment, options);
  return { catalog, documents, mcp, openApi, guardedHttp, counters, consent, calls, innerCalls, starters, ...toolRoutes };
}

function toStateSigner(seal: Seal): StateSigner {
  const purpose = 'state of a quick app';
  return { sign: (text) => seal.sign(text, purpose), verify: (text, signature) => seal.verify(text, signature, purpose) };
}

/** Pause between frames. It is long enough for a reader to see that the demo streams. */
const defaultDemoPaceMs = 15;

/** Returns the protocols of upstreams. `guardedHttp` is for URLs that users control. */
function composeProtocols(
  { http, embedder, clock, demoPaceMs = defaultDemoPaceMs, onUnsupported = () => undefined }: ServiceDeps,
  guardedHttp: HttpClient,
): Record<ProtocolName, ChatProtocol> {
  const newId = createLetterIds();
  const withTools = (protocol: ChatProtocol): ChatProtocol => withFunctions(protocol, newId);
  const demo = createDemoProtocol({ embedder, epochMs: () => clock.epochMs(), newId, paceMs: demoPaceMs });
  const createProtocol = (name: VendorName): ChatProtocol =>
    withTools(withJsonMode(withChoices(createVendorProtocol(name, { http, clock, onUnsupported }))));
  const vendorNames = Object.keys(vendors) as VendorName[];
  const vendorProtocols = Object.fromEntries(vendorNames.map((name) => [name, createProtocol(name)])) as Record<
    VendorName,
    ChatProtocol
  >;
  const responses = withChoices(createResponsesProtocol(http, clock, readErrorReply));
  return {
    openai: withTools(createOpenAiProtocol(http, 'openai', responses)),
    azure: withTools(createOpenAiProtocol(http, 'azure', responses)),
    application: chooseByGuard(createOpenAiProtocol(http, 'application'), createOpenAiProtocol(guardedHttp, 'application')),
    dial: createOpenAiProtocol(http, 'dial'),
    anthropic: withTools(withJsonMode(withChoices(createAnthropicProtocol(http, clock)))),
    ...vendorProtocols,
    demo: withTools(withChoices(demo)),
  };
}

/** Returns a protocol that sends to `guarded` if the upstream's URL comes from a user, and to `open` otherwise. */
function chooseByGuard(open: ChatProtocol, guarded: ChatProtocol): ChatProtocol {
  return {
    supportsSeveralChoices: open.supportsSeveralChoices,
    chat: (attempt, reply) => (attempt.upstream.isGuarded ? guarded : open).chat(attempt, reply),
  };
}

const tokenReplyMs = 30_000;

/** Sources of tools under one configuration, behind its network guard. */
interface ConfiguredTools {
  readonly addons: AddonTools;
  readonly sources: ToolSources;
  /** Returns the conversation starters of one MCP server. */
  readonly starters: ServerStartersDeps['starters'];
  /** Returns the current tools of one MCP server. */
  readonly survey: ToolRoutesDeps['survey'];
  /** Runs one tool once. */
  readonly tryTool: ToolRoutesDeps['tryTool'];
}

/** Dependencies that do not change with the configuration. */
interface CachedSources {
  readonly mcp: McpTools;
  readonly documents: DocumentTools;
  readonly caches: Caches;
  readonly openApi: OpenApiReader;
  readonly reportError: (message: string, error: unknown) => void;
  readonly onUnusablePart: OnUnusablePart;
}

/** Returns a function that creates the tools of a configuration on first use, and returns the same tools later. */
function createToolSources(clock: Clock, sharedSources: CachedSources): (configuration: Configuration) => ConfiguredTools {
  const toolsByConfiguration = new WeakMap<Configuration, ConfiguredTools>();
  return (configuration) => {
    let tools = toolsByConfiguration.get(configuration);
    if (tools === undefined) {
      tools = createTools(configuration, clock, sharedSources);
      toolsByConfiguration.set(configuration, tools);
    }
    return tools;
  };
}

function createTools(configuration: Configuration, clock: Clock, sharedSources: CachedSources): ConfiguredTools {
  const { security, tools: limits } = configuration;
  const { connectMs, listMs, timeoutMs } = limits;
  const { allowPrivateNetworks } = security;
  const guard = new NetGuard(allowPrivateNetworks);
  const http: HttpClient = guardClient(guard, (lookup) => new LeanClient({ lookup }));
  const { caches } = sharedSources;
  const tokens = new TokenCache({
    http,
    clock,
    caches,
    timeouts: { connectMs, firstByteMs: tokenReplyMs, idleMs: tokenReplyMs },
  });
  const rules = JSON.stringify([allowPrivateNetworks, connectMs, listMs, timeoutMs]);
  const network = { fetch: createGuardedFetch(guard, connectMs), tokens, timeoutMs, connectMs, listMs, rules };
  const sources: ToolSources = {
    http,
    tokens,
    limits,
    async mcp(settings, context) {
      const loaded = await sharedSources.mcp.load(settings, network, context);
      const { application, owner } = context;
      if (owner === null && settings.allowedTools !== undefined)
        sharedSources.onUnusablePart({ kind: 'tools', application, toolset: settings.name, names: loaded.unknownNames });
      return loaded;
    },
    documents: (settings, context) => sharedSources.documents.load(settings, configuration, context),
  };
  const onToolError = (tool: string, error: unknown): void => sharedSources.reportError(`the tool ${tool} failed`, error);
  return {
    addons: new AddonTools({ http, tokens, clock, caches, limits, reader: sharedSources.openApi }),
    sources,
    tryTool: (trial) => tryTool(trial, { sources, clock, limits, onToolError }),
    starters: (settings, user) => sharedSources.mcp.loadStarters(settings, network, user),
    survey: (settings, signal) => sharedSources.mcp.survey(settings, network, signal),
  };
}

/** Maximum time to wait for the servers. A later result is cached for the next request. */
const maxWaitMs = 2_000;

interface ServerStartersDeps {
  /** Returns the starters of one server. Rejects with ToolError, or with the signal's reason. */
  readonly starters: (settings: McpToolsetSettings, user: McpLoadContext) => Promise<readonly string[]>;
  readonly reportError: (message: string, error: unknown) => void;
}

/**
 * Returns the prompts from the application's MCP servers as conversation starters. A server that fails or does not answer within
 * 2 seconds contributes no prompts.
 */
async function listServerStarters(
  { starters, reportError }: ServerStartersDeps,
  { id, quickApp }: Deployment,
  { caller: { subject }, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const waiting = AbortSignal.any([signal, AbortSignal.timeout(maxWaitMs)]);
  const user = { subject, application: id, signal: waiting };
  const promptLists = (quickApp?.toolsets ?? []).filter(hasPrompts).map(async (settings) => {
    try {
      return await starters(settings, user);
    } catch (error) {
      if (!waiting.aborted && !(error instanceof ToolError)) reportError(`cannot read the prompts of ${settings.name}`, error);
      return [];
    }
  });
  return (await Promise.all(promptLists)).flat();
}

function hasPrompts(toolset: QuickAppToolset): toolset is McpToolsetSettings {
  return toolset.kind === 'mcp' && toolset.prompts === true;
}
