import { randomUUID } from 'node:crypto';
import type { HttpClient } from '#base/http/client.ts';
import { createLetterIds } from '#base/letter-id.ts';
import type { Seal } from '#base/seal.ts';
import { type AnswerWays, createAnswerChat } from '#calls/answer-chat.ts';
import { answerEmbeddings } from '#calls/answer-embeddings.ts';
import { answerPassThrough } from '#calls/answer-passthrough.ts';
import { askFeature } from '#calls/ask-feature.ts';
import { createAuthorize } from '#calls/authorize.ts';
import { callApplication } from '#calls/call-application.ts';
import { createCallUpstreams } from '#calls/call-upstream.ts';
import { countTokens } from '#calls/count-tokens.ts';
import { InnerCalls } from '#calls/inner-calls.ts';
import { createReserveLimits } from '#calls/reserve-limits.ts';
import { runAddons } from '#calls/run-addons.ts';
import { runQuickApp } from '#calls/run-quick-app.ts';
import { runRemoteTools } from '#calls/run-remote-tools.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { Calls } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { createRequireConsent } from '#domain/consent/require-consent.ts';
import { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { defaultFileLimits } from '#domain/files/stored-resources.ts';
import { LimitCounters } from '#domain/limits/limit-counters.ts';
import { dependenciesFor } from '#domain/quick-app/deployments-as-tools.ts';
import { KeptTexts } from '#domain/quick-app/kept-texts.ts';
import { ReplySizes } from '#domain/usage/reply-sizes.ts';
import { RunStates, type StateSigner } from '#runtime/quick-app/run-state.ts';
import type { ToolRoutesDeps } from '#surfaces/applications/tool-routes.ts';
import type { CallerRoutesDeps } from '#surfaces/listings/caller-routes.ts';
import { McpTools } from '#tools/mcp/mcp-tools.ts';
import { OpenApiReader } from '#tools/openapi/openapi-reader.ts';
import { composeProtocols } from './compose-protocols.ts';
import { DocumentTools } from './document-tools.ts';
import { startersOfServers } from './servers-starters.ts';
import type { ServiceDeps } from './service-parts.ts';
import { createToolSources } from './tool-sources.ts';

/** Parts with everything that may be left out. */
export type CompleteServiceDeps = ServiceDeps &
  Required<Pick<ServiceDeps, 'caches' | 'loadBalancer' | 'noteFault' | 'noteGraph' | 'noteAudit'>>;

/** The way of every call, and what of it surfaces look at. */
export type Line = ReturnType<typeof composeLine>;

/** Builds what stands behind the surfaces: finding, consent, limits, upstreams and tools. */
export function composeLine(deps: CompleteServiceDeps) {
  const { snapshot, clock, caches, telemetry, loadBalancer, noteFault, noteGraph } = deps;
  const { noteRemovedReferences = () => undefined, noteUnusablePart = () => undefined } = deps;
  const { perRequestKeys, limits, seal } = deps.stores;
  const newId = createLetterIds();
  const catalog = new Catalog(deps.stores.applications);
  const texts = deps.files && new KeptTexts({ ...defaultFileLimits, ...deps.files, clock, newId: randomUUID, noteFault });
  const states = new RunStates(toStateSigner(seal), texts);
  const innerCalls = new InnerCalls({ telemetry, clock, newId });
  const mcp = new McpTools(clock, caches);
  const documents = new DocumentTools({
    ...{ files: deps.files, passages: deps.passages, embedder: deps.embedder, snapshot, clock, caches, noteFault },
    noteMissing: deps.noteMissing,
    noteUnusablePart,
    innerCalls,
  });
  const openApi = new OpenApiReader();
  const toolSources = createToolSources(clock, { mcp, documents, openApi, caches, noteFault, noteUnusablePart });
  const guarded: HttpClient = {
    send: (request, listener) => toolSources(snapshot().configuration).sources.http.send(request, listener),
    close: () => undefined,
  };
  const upstreams = { loadBalancer, clock, protocols: composeProtocols(deps, guarded), perRequestKeys };
  const callEndpoints = createCallUpstreams(upstreams);
  const applications = { perRequestKeys, callUpstreams: callEndpoints };
  const addons = { addonTools: (of: Configuration) => toolSources(of).addons, clock, newId, noteFault };
  const quickApps = {
    toolSources: (of: Configuration) => toolSources(of).sources,
    ...{ innerCalls, catalog, states, clock, newId, noteFault, noteGraph },
  };
  const ways: AnswerWays = {
    callUpstreams: callEndpoints,
    callApplication: (prepared, sink) => callApplication(applications, prepared, sink),
    runAddons: (prepared, run) => runAddons(addons, prepared, run),
    runQuickApp: (prepared, sink) => runQuickApp(quickApps, prepared, sink),
    runRemoteTools: (prepared, run) => runRemoteTools(quickApps, prepared, run),
  };
  const counters = new LimitCounters(limits, clock);
  const reserveLimits = createReserveLimits({ counters, sizes: new ReplySizes(), clock, noteFault });
  const consent = composeConsent(deps, catalog);
  const requireConsent = createRequireConsent(consent);
  const calls: Calls = {
    authorize: createAuthorize({ snapshot, catalog, requireConsent }),
    answer: createAnswerChat({ states, reserveLimits, clock, ways, noteRemovedReferences, newId }),
    embed: (target, request, signal) => answerEmbeddings({ ...upstreams, reserveLimits }, { target, request, signal }),
    passThrough: (target, request, reply) => answerPassThrough({ ...upstreams, reserveLimits }, { target, request }, reply),
    askFeature: (ask, signal) =>
      askFeature({ http: deps.http, guarded, perRequestKeys, requireConsent, reserveLimits }, ask, signal),
    countTokens: (target, ask, signal) => countTokens(upstreams, { target, ...ask, signal }),
  };
  innerCalls.connect(calls);
  const starters: CallerRoutesDeps['starters'] = (deployment, asking) => {
    const { starters: ofServer } = toolSources(snapshot().configuration);
    return startersOfServers({ starters: ofServer, noteFault }, deployment, asking);
  };
  const survey: ToolRoutesDeps['survey'] = (settings, signal) => toolSources(snapshot().configuration).survey(settings, signal);
  const tryTool: ToolRoutesDeps['tryTool'] = (trial) => toolSources(snapshot().configuration).tryTool(trial);
  return { catalog, documents, mcp, openApi, guarded, counters, consent, calls, innerCalls, starters, survey, tryTool };
}

function composeConsent({ stores, noteGraph }: CompleteServiceDeps, catalog: Catalog) {
  const dependencies = (snapshot: ConfigSnapshot, caller: Caller) => dependenciesFor({ catalog, snapshot, caller });
  return { store: stores.consents, dependencies, noteGraph };
}

function toStateSigner(seal: Seal): StateSigner {
  const purpose = 'state of a quick app';
  return { sign: (text) => seal.sign(text, purpose), verify: (text, signature) => seal.verify(text, signature, purpose) };
}
