import { randomUUID } from 'node:crypto';
import type { HttpClient } from '#base/http/client.ts';
import type { Seal } from '#base/seal.ts';
import { createAnswer } from '#calls/answer.ts';
import { createComplete } from '#calls/complete.ts';
import { createCountTokens } from '#calls/count-tokens.ts';
import { createEmbed } from '#calls/embed.ts';
import { createReserveLimits } from '#calls/reserve-limits.ts';
import { withAddons } from '#calls/with-addons.ts';
import { withQuickApps } from '#calls/with-quick-apps.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { createRequireConsent } from '#domain/consent/require-consent.ts';
import { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { defaultFileLimits } from '#domain/files/stored-files.ts';
import { LimitCounters } from '#domain/limits/limit-counters.ts';
import { dependenciesFor } from '#domain/quick-app/deployments-as-tools.ts';
import { KeptTexts } from '#domain/quick-app/kept-texts.ts';
import { RunStates, type StateSigner } from '#runtime/quick-app/run-state.ts';
import { McpTools } from '#tools/mcp/mcp-tools.ts';
import { composeProtocols } from './compose-protocols.ts';
import { DocumentTools } from './document-tools.ts';
import type { ServiceDeps } from './service-parts.ts';
import { createToolSources } from './tool-sources.ts';

/** Parts with everything that may be left out. */
export type CompleteServiceDeps = ServiceDeps &
  Required<Pick<ServiceDeps, 'loadBalancer' | 'noteFault' | 'noteGraph' | 'noteAudit'>>;

/** The way of every call, and what of it surfaces look at. */
export type Line = ReturnType<typeof composeLine>;

/** Builds what stands behind the surfaces: finding, consent, limits, upstreams and tools. */
export function composeLine(parts: CompleteServiceDeps) {
  const { snapshot, clock, telemetry, loadBalancer, noteFault, noteGraph } = parts;
  const { perRequestKeys, applications, limits, seal } = parts.stores;
  const catalog = new Catalog(applications);
  const texts = parts.files && new KeptTexts({ ...defaultFileLimits, ...parts.files, clock, newId: randomUUID, noteFault });
  const states = new RunStates(toStateSigner(seal), texts);
  const mcp = new McpTools(clock);
  const documents = new DocumentTools({
    ...{ files: parts.files, passages: parts.passages, embedder: parts.embedder, snapshot, clock, noteFault },
    serviceEmbed: { embed: (call) => embed(call), telemetry, clock, newId: randomUUID },
  });
  const toolSources = createToolSources(clock, { mcp, documents });
  const guarded: HttpClient = {
    send: (request, listener) => toolSources(snapshot().configuration).sources.http.send(request, listener),
    close: () => undefined,
  };
  const answerDeps = { loadBalancer, clock, protocols: composeProtocols(parts, guarded), perRequestKeys };
  const answer = withQuickApps(
    withAddons(createAnswer(answerDeps), { addonTools: (configuration) => toolSources(configuration).addons, clock, noteFault }),
    {
      complete: (call) => complete(call),
      toolSources: (configuration) => toolSources(configuration).sources,
      ...{ catalog, states, telemetry, clock, noteFault, noteGraph },
    },
  );
  const counters = new LimitCounters(limits, clock);
  const admit = createReserveLimits({ counters, clock, noteFault });
  const consent = composeConsent(parts, catalog);
  const requireConsent = createRequireConsent(consent);
  const complete = createComplete({ snapshot, catalog, states, clock, requireConsent, admit, answer });
  const embed = createEmbed({ ...answerDeps, snapshot, catalog, requireConsent, admit });
  const countTokens = createCountTokens({ ...answerDeps, snapshot, catalog, requireConsent });
  return { catalog, documents, mcp, guarded, counters, consent, complete, embed, countTokens };
}

function composeConsent({ stores, noteGraph }: CompleteServiceDeps, catalog: Catalog) {
  const dependencies = (snapshot: ConfigSnapshot, caller: Caller) => dependenciesFor({ catalog, snapshot, caller });
  return { store: stores.consents, dependencies, noteGraph };
}

function toStateSigner(seal: Seal): StateSigner {
  const purpose = 'state of a quick app';
  return { sign: (text) => seal.sign(text, purpose), verify: (text, signature) => seal.verify(text, signature, purpose) };
}
