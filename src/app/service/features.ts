import { randomUUID } from 'node:crypto';
import { createRandomSecret } from '#base/secrets/seal.ts';
import { createLetterIds } from '#base/text/letter-id.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { ApplicationResources } from '#domain/deployments/application-resources.ts';
import { createSignInOptions } from '#identity/sign-in-options.ts';
import { AlertDeliveries } from '#services/alerts/alert-deliveries.ts';
import { EvaluationRuns } from '#services/evaluation/evaluation-runs.ts';
import type { EvaluationRequest } from '#services/evaluation/run-case.ts';
import { NodeLease } from '#services/node/node-lease.ts';
import { alertOperations, alertRoutes } from '#surfaces/admin/alert-routes.ts';
import { changeRoutes } from '#surfaces/admin/entries/change-routes.ts';
import { entryRoutes } from '#surfaces/admin/entries/entry-routes.ts';
import { adminKeyRoutes, createConfiguredKeys } from '#surfaces/admin/entries/key-routes.ts';
import { limitRoutes } from '#surfaces/admin/entries/limit-routes.ts';
import { adminEntryOperations } from '#surfaces/admin/entries/openapi.ts';
import { adminOperations } from '#surfaces/admin/openapi.ts';
import { adminRoutes } from '#surfaces/admin/routes.ts';
import { adminUserOperations } from '#surfaces/admin/user-openapi.ts';
import { adminApplicationRoutes, adminUserRoutes } from '#surfaces/admin/user-routes.ts';
import { accessRoutes } from '#surfaces/applications/access-routes.ts';
import { caseRoutes } from '#surfaces/applications/evaluation/case-routes.ts';
import { evaluationRoutes } from '#surfaces/applications/evaluation/evaluation-routes.ts';
import { evaluationOperations } from '#surfaces/applications/evaluation/openapi.ts';
import { applicationOperations } from '#surfaces/applications/openapi.ts';
import { readDraft } from '#surfaces/applications/read-application.ts';
import { applicationRoutes } from '#surfaces/applications/routes.ts';
import { toolOperations } from '#surfaces/applications/tool-openapi.ts';
import { type ImportDeps, importRoutes, toolRoutes } from '#surfaces/applications/tool-routes.ts';
import { draftRoutes } from '#surfaces/chat-completions/draft-routes.ts';
import { compatOperations, draftOperations } from '#surfaces/chat-completions/openapi.ts';
import { compatRoutes } from '#surfaces/chat-completions/routes.ts';
import { chatOperations } from '#surfaces/chats/openapi.ts';
import { chatRoutes } from '#surfaces/chats/routes.ts';
import { shareRoutes } from '#surfaces/chats/share-routes.ts';
import { consentOperations } from '#surfaces/consent/openapi.ts';
import { consentRoutes } from '#surfaces/consent/routes.ts';
import { featureOperations } from '#surfaces/features/openapi.ts';
import { featureRoutes } from '#surfaces/features/routes.ts';
import { fileOperations } from '#surfaces/files/openapi.ts';
import { resourceOperations } from '#surfaces/files/resources/openapi.ts';
import { resourceRoutes } from '#surfaces/files/resources/routes.ts';
import { fileRoutes } from '#surfaces/files/routes.ts';
import type { ApiOperation } from '#surfaces/http/openapi/operation.ts';
import { routeNotFound } from '#surfaces/http/path-methods.ts';
import { keyOperations } from '#surfaces/keys/openapi.ts';
import { keyRoutes } from '#surfaces/keys/routes.ts';
import { callerOperations } from '#surfaces/listings/caller-openapi.ts';
import { callerRoutes } from '#surfaces/listings/caller-routes.ts';
import { addonOperations, listingOperations, schemaOperations } from '#surfaces/listings/openapi.ts';
import { addonRoutes, listingRoutes, schemaRoutes } from '#surfaces/listings/routes.ts';
import { mcpOperations } from '#surfaces/mcp/openapi.ts';
import { mcpRoutes } from '#surfaces/mcp/routes.ts';
import { messagesOperations } from '#surfaces/messages/openapi.ts';
import { messagesRoutes } from '#surfaces/messages/routes.ts';
import { opsOperations } from '#surfaces/ops/openapi.ts';
import { passThroughOperation } from '#surfaces/passthrough/openapi.ts';
import { createPassThrough } from '#surfaces/passthrough/serve-pass-through.ts';
import { responseOperation } from '#surfaces/responses/openapi.ts';
import { scimOperations } from '#surfaces/scim/openapi.ts';
import { scimRoutes } from '#surfaces/scim/routes.ts';
import { signInOperations } from '#surfaces/ui/openapi.ts';
import { uiRoutes } from '#surfaces/ui/routes.ts';
import { importOpenApi } from '#tools/openapi/load-openapi.ts';
import { type Core, compatPrefixes, type Feature } from './feature.ts';
import { responses } from './responses-feature.ts';

/** Chat completions, embeddings, and the APIs that are passed through. */
const chatCompletions: Feature = {
  operations: (aliases) => compatOperations(compatPrefixes(aliases), passThroughOperation, responseOperation),
  add({ app, handler, calls, snapshot, aliases, deploymentApis }) {
    compatRoutes(app, {
      handler,
      calls,
      passThrough: createPassThrough({ handler, calls, maxFormBytes: () => snapshot().configuration.files.maxFileBytes }),
      serveResponses(input, deployment) {
        if (deploymentApis.responses === undefined) throw routeNotFound();
        return deploymentApis.responses(input, deployment);
      },
      aliases: aliases.compat,
    });
  },
};

/** The Anthropic messages API. */
const messages: Feature = {
  operations: (aliases) => messagesOperations(aliases.msgapi),
  add({ app, aliases, ...core }) {
    messagesRoutes(app, { ...core, aliases: aliases.msgapi });
  },
};

/** Each deployment as an MCP server. Its route also reaches the other actions on deployments. */
const mcpServer: Feature = {
  operations: () => mcpOperations,
  add({ app, deploymentActions, ...core }) {
    mcpRoutes(app, { ...core, otherMethods: deploymentActions });
  },
};

/** Lists of deployments and addons, and the routes about the caller. */
const listings: Feature = {
  operations(aliases) {
    const prefixes = compatPrefixes(aliases);
    return [...listingOperations(prefixes), ...addonOperations(prefixes), ...callerOperations, ...schemaOperations];
  },
  add({ app, aliases, documents, userKeys, shares, contents, ...core }) {
    const prefixes = compatPrefixes(aliases);
    const modelPaths = ['/v1/models', ...aliases.compat.map((alias) => `/${alias}/v1/models`)];
    listingRoutes(app, { ...core, prefixes, modelPaths });
    addonRoutes(app, { ...core, prefixes });
    callerRoutes(app, {
      ...core,
      sharesChats: shares !== undefined,
      storesFiles: contents !== undefined,
      runsChats: core.responses !== undefined,
      findSelfService: (caller) => userKeys?.findSelfService(caller),
      documents: (deployment) => documents.progress(deployment),
    });
    schemaRoutes(app, core);
  },
};

/** Keys that users create for themselves. */
const userKeys: Feature = {
  operations: () => keyOperations,
  add({ app, keys, userKeys, ...core }) {
    if (keys !== undefined && userKeys !== undefined)
      keyRoutes(app, { ...core, ...keys, userKeys, newId: randomUUID, newSecret: createRandomSecret });
  },
};

/** Rating, tokenizing, and truncating, by Parley or by an endpoint of the deployment. */
const deploymentFeatures: Feature = {
  operations: () => featureOperations,
  add({ deploymentActions, ...core }) {
    for (const [name, serve] of featureRoutes(core)) deploymentActions.set(name, serve);
  },
};

/** Consent of users to the dependencies of deployments. */
const consent: Feature = {
  operations: () => consentOperations,
  add({ app, consent: deps, ...core }) {
    consentRoutes(app, { ...core, ...deps });
  },
};

/** Maximum time to load a document that is imported. */
const maxDocumentLoadMs = 30_000;

/** Applications that users save, with tests of their tools and the import of OpenAPI documents. */
const applications: Feature = {
  operations: () => [...applicationOperations, ...toolOperations, ...draftOperations],
  add(core) {
    const { app, savedApplications: store, files } = core;
    importRoutes(app, { ...core, importDocument: createImportDocument(core) });
    toolRoutes(app, { ...core, store });
    applicationRoutes(app, { ...core, store, files: files?.index, newId: randomUUID });
    accessRoutes(app, { ...core, store, newId: randomUUID });
    const { handler, calls } = core;
    draftRoutes(app, { handler, calls, readDraft: (draft) => readDraft({ ...core, store, files: files?.index }, draft) });
  },
};

function createImportDocument({ guarded, openApi, snapshot }: Core): ImportDeps['importDocument'] {
  return ({ text, url, owner, include, exclude, maxBytes }) => {
    const { connectMs, timeoutMs } = snapshot().configuration.tools;
    const bounds = { connectMs, timeoutMs: Math.min(timeoutMs, maxDocumentLoadMs), maxBytes };
    return importOpenApi({ text, url, source: { http: guarded, reader: openApi, owner, ...bounds } }, { include, exclude });
  };
}

/** Evaluations of applications: their cases, runs, and results. */
const evaluations: Feature = {
  operations: () => evaluationOperations,
  add(core) {
    if (core.evaluations === undefined) return;
    const { app, clock, innerCalls } = core;
    const { store: results, leases, isShared } = core.evaluations;
    const newId = createLetterIds();
    const sendRequest = ({ request, signal, ...call }: EvaluationRequest) =>
      innerCalls.call({
        call: { id: newId(), ...call },
        trace: { traceparent: undefined, tracestate: undefined },
        request,
        signal,
      });
    const lease = new NodeLease({ runs: leases, node: randomUUID(), clock });
    const runs = new EvaluationRuns({ ...core, sendRequest, store: results, lease, newId, isShared });
    app.addHook('onClose', () => runs.close());
    const deps = { ...core, store: core.stores.applications, evaluations: runs, results, newId };
    caseRoutes(app, deps);
    evaluationRoutes(app, deps);
  },
};

/** Conversations of the page, and shared copies of them. */
const chats: Feature = {
  operations: () => chatOperations,
  add({ app, chats: store, shares, contents, ...core }) {
    if (store === undefined) return;
    const deps = { ...core, chats: store, files: contents };
    chatRoutes(app, deps);
    if (shares !== undefined) shareRoutes(app, { ...deps, shares, newId: randomUUID, newToken: createRandomSecret });
  },
};

/** Files, and the other resources in the buckets of users. */
const files: Feature = {
  operations: () => [...fileOperations, ...resourceOperations],
  add({ app, contents, savedApplications: store, ...core }) {
    if (contents === undefined) return;
    const applications = new ApplicationResources({ ...core, store, newId: randomUUID });
    fileRoutes(app, { ...core, files: contents });
    resourceRoutes(app, { ...core, contents, applications });
  },
};

/** Usage, calls, audit log, state of the node, keys and blocks of users, and the configuration at run time, for administrators. */
const administration: Feature = {
  operations: () => [...adminOperations, ...adminUserOperations, ...adminEntryOperations],
  add({ app, admin, entries, keys, userKeys, blockedUsers, ...core }) {
    if (admin === undefined) return;
    adminRoutes(app, { ...core, ...admin });
    adminApplicationRoutes(app, { ...core, store: core.savedApplications });
    const entryDeps = entries && { ...core, ...admin, ...entries, newId: randomUUID, newSecret: createRandomSecret };
    if (entryDeps !== undefined)
      for (const routes of [entryRoutes, adminKeyRoutes, changeRoutes, limitRoutes]) routes(app, entryDeps);
    if (keys === undefined || userKeys === undefined || blockedUsers === undefined) return;
    adminUserRoutes(app, {
      ...core,
      store: keys.store,
      userKeys,
      blockedUserStore: keys.blockedUsers,
      blockedUsers,
      configuredKeys: entryDeps && createConfiguredKeys(entryDeps),
    });
  },
};

/** Webhooks about limits. */
const alerts: Feature = {
  operations: () => alertOperations,
  add({ app, alerts: parts, counters, identify, http, snapshot, clock, reportError }) {
    if (parts === undefined) return;
    const { store, onUndelivered } = parts;
    const deliveries = new AlertDeliveries({ store, onUndelivered, http, snapshot, clock, reportError });
    counters.onThreshold((reached) => deliveries.record(reached));
    app.addHook('onClose', () => deliveries.close());
    alertRoutes(app, { identify, store, snapshot });
  },
};

/** Users and groups that an identity provider provisions. */
const scim: Feature = {
  operations: () => scimOperations,
  add({ app, keys, groupRoles, blockedUsers, ...core }) {
    if (keys?.scim !== undefined && groupRoles !== undefined && blockedUsers !== undefined)
      scimRoutes(app, { ...core, store: keys.scim, groupRoles, blockedUsers, newId: randomUUID });
  },
};

/** The web page, and the identity providers that it offers. */
const page: Feature = {
  operations: () => signInOperations,
  add({ app, snapshot, entries, ...core }) {
    uiRoutes(app, {
      listSignInOptions: createSignInOptions({ ...core, snapshot }),
      isFirstStart: () => entries?.firstStart.isWaiting(entries.entries.configuration) === true,
      settings: () => snapshot().configuration.page,
    });
  },
};

/** All features of the service, in the order of `/openapi.json`. To add a feature, define it above and list it here. */
export const features: readonly Feature[] = [
  ...[chatCompletions, messages, responses, mcpServer, listings, userKeys, deploymentFeatures, consent],
  ...[applications, evaluations, chats, files, administration, alerts, scim, page],
];

/** Returns the operations that `/openapi.json` lists for a configuration. */
export function apiOperations({ aliases }: Pick<Configuration, 'aliases'>): readonly ApiOperation[] {
  return [...features.flatMap(({ operations }) => operations?.(aliases) ?? []), ...opsOperations];
}
