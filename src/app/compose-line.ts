import { randomUUID } from 'node:crypto';
import type { HttpClient } from '#base/http/client.ts';
import type { Seal } from '#base/seal.ts';
import { createAdmit } from '#dispatch/admit.ts';
import { createAnswer } from '#dispatch/answer.ts';
import { createComplete } from '#dispatch/complete.ts';
import { createCountTokens } from '#dispatch/count-tokens.ts';
import { createEmbed } from '#dispatch/embed.ts';
import { withAddons } from '#dispatch/with-addons.ts';
import { withQuickApps } from '#dispatch/with-quick-apps.ts';
import type { Caller } from '#domain/caller.ts';
import { Catalog } from '#domain/catalog.ts';
import { createRequireConsent } from '#domain/consent.ts';
import type { Directory } from '#domain/directory.ts';
import { LimitCounters } from '#domain/limit-counters.ts';
import { dependenciesFor } from '#domain/quick-app/deployments-as-tools.ts';
import { KeptTexts } from '#domain/quick-app/kept-texts.ts';
import { defaultFileLimits } from '#domain/stored-files.ts';
import { RunStates, type StateSigner } from '#runtime/quick-app/run-state.ts';
import { McpTools } from '#tools/mcp/mcp-tools.ts';
import { composeProtocols } from './compose-protocols.ts';
import { DocumentTools } from './document-tools.ts';
import type { ServiceParts } from './service-parts.ts';
import { createToolSources } from './tool-sources.ts';

/** Parts with everything that may be left out. */
export type WholeParts = ServiceParts & Required<Pick<ServiceParts, 'balance' | 'noteFault' | 'noteGraph' | 'noteAudit'>>;

/** The way of every call, and what of it surfaces look at. */
export type Line = ReturnType<typeof composeLine>;

/** Builds what stands behind the surfaces: finding, consent, limits, upstreams and tools. */
export function composeLine(parts: WholeParts) {
  const { directory, clock, telemetry, balance, noteFault, noteGraph } = parts;
  const { perRequestKeys, applications, limits, seal } = parts.stores;
  const catalog = new Catalog(applications);
  const texts = parts.files && new KeptTexts({ ...defaultFileLimits, ...parts.files, clock, newId: randomUUID, noteFault });
  const states = new RunStates(toStateSigner(seal), texts);
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
  const consent = composeConsent(parts, catalog);
  const requireConsent = createRequireConsent(consent);
  const complete = createComplete({ directory, catalog, states, clock, requireConsent, admit, answer });
  const embed = createEmbed({ ...answerTools, directory, catalog, requireConsent, admit });
  const countTokens = createCountTokens({ ...answerTools, directory, catalog, requireConsent });
  return { catalog, documents, mcp, guarded, counters, consent, complete, embed, countTokens };
}

function composeConsent({ stores, noteGraph }: WholeParts, catalog: Catalog) {
  const dependencies = (directory: Directory, caller: Caller) => dependenciesFor({ catalog, directory, caller });
  return { store: stores.consents, dependencies, noteGraph };
}

function toStateSigner(seal: Seal): StateSigner {
  const purpose = 'state of a quick app';
  return { sign: (text) => seal.sign(text, purpose), verify: (text, signature) => seal.verify(text, signature, purpose) };
}
