import { hash, randomUUID } from 'node:crypto';
import { createDefaultConfiguration } from '#app/first-configuration.ts';
import type { EvaluationStores, ResponseStores } from '#app/node/stores.ts';
import { storeDocuments } from '#app/sample/sample.ts';
import { listApiOperations } from '#app/service/features.ts';
import type { ServiceDeps } from '#app/service/service-deps.ts';
import type { JsonObject } from '#base/json/json.ts';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { systemClock } from '#base/time/clock.ts';
import { entryKindNames, entryKinds } from '#contract/administration/entry-kinds.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { type PassThroughApi, passThroughApis, passThroughTraits } from '#contract/pass-through.ts';
import type { EntryStore } from '#domain/administration/entry-store.ts';
import { HeldRights } from '#domain/callers/held-rights.ts';
import type { StoredKey } from '#domain/callers/key-store.ts';
import type { ShareStore } from '#domain/chats/chat-share.ts';
import type { ChatStore } from '#domain/chats/chat-store.ts';
import { toBucket } from '#domain/files/bucket.ts';
import type { FileInfo } from '#domain/files/file-index.ts';
import { toChatRunRef } from '#domain/responses/chat-run.ts';
import type { ScimStore } from '#domain/scim/scim-store.ts';
import { FirstStart } from '#services/administration/first-start.ts';
import { MemoryPerRequestKeys } from '#stores/memory/per-request-keys.ts';
import { SqlEntryStore } from '#stores/sql/administration/entry-store.ts';
import { SqlBlockedUserStore } from '#stores/sql/callers/blocked-user-store.ts';
import { SqlKeyStore } from '#stores/sql/callers/key-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { SqlAlertStore } from '#stores/sql/limits/alert-store.ts';
import { SqlPassageIndex } from '#stores/sql/passages/passage-index.ts';
import { SqlScimStore } from '#stores/sql/scim/scim-store.ts';
import { entryExamples, toEntryExample, toFileEntryExample } from '#surfaces/admin/entries/openapi.ts';
import type { NodeReport } from '#surfaces/admin/node-report.ts';
import { toRatePath } from '#surfaces/features/routes.ts';
import { exampleNames } from '#surfaces/http/openapi/operation-examples.ts';
import { opsRoutes } from '#surfaces/ops/routes.ts';
import { createLog } from '#telemetry/log.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryConsentStore } from '#test/memory-consent-store.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { openResponses } from '#test/response-stores.ts';
import { startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { freshSqlite } from '#test/sql-engines.ts';
import { type ServiceOptions, startService } from '#test/start-service.ts';
import { createAuditRecord, createUsageRecord, report } from '../admin/support.ts';
import { quickApp } from '../applications/support.ts';
import { createProviderEntry, type Issuer, startIssuer } from '../identity/support.ts';

type Parts = ServiceOptions & Pick<ServiceDeps, 'addHooks'>;

const key = 'the-local-key';
const subject = 'key:local';
const bucket = toBucket(subject);
export const aliases = { compat: ['openai'], msgapi: ['anthropic'] };

type Credentials = Readonly<Record<string, Readonly<Record<string, string>>>>;

function toCredentials(secret: string): Credentials {
  return { apiKey: { 'Api-Key': secret }, xApiKey: { 'x-api-key': secret }, bearer: { Authorization: `Bearer ${secret}` } };
}

/** Request headers with the local key, by the name of the security scheme. */
export const credentials: Credentials = toCredentials(key);

/** A service with the default configuration and the entities that the examples reference. */
export interface ExampleService extends AsyncDisposable {
  readonly url: string;
  /** Registered routes in the form `METHOD /pattern`. */
  readonly routes: readonly string[];
  /** Same as `credentials`, with the per-request key of a call to the example application. */
  readonly perRequest: Credentials;
  /** Same as `credentials`, with the token of a user who signed in. */
  readonly signedIn: Credentials;
  /** Restores all entities that the examples change, such as files, prompts, chats, the application, keys, and consents. */
  restore(): Promise<void>;
}

/** Returns the path that the router has for an operation. */
export function toServedPath(method: string, path: string): string {
  return toRatePath(method, path);
}

export async function startExampleService(): Promise<ExampleService> {
  const fresh = await freshSqlite();
  const { database, close } = await fresh.open();
  const journal = new SqlJournal(database);
  const responseDatabase = await openResponses('SQLite');
  const responses = responseDatabase.stores();
  const files = { index: new MemoryFileIndex(), blobs: new MemoryBlobs() };
  const { applications, evaluations } = responseDatabase.evaluating();
  const consents = new MemoryConsentStore();
  const routes: string[] = [];
  const perRequestKeys = new MemoryPerRequestKeys(randomUUID);
  const chain = { path: [exampleNames.application], rights: new HeldRights(), report: () => undefined };
  const perRequest = await perRequestKeys.issue({ subject, project: 'local', roles: ['default'], chain });
  await storeDocuments({
    files,
    clock: systemClock,
    log: createLog({ level: 'silent', sink: { write() {} }, secrets: () => [] }),
  });
  await journal.appendUsage([
    createUsageRecord('2026-11-15', { id: exampleNames.call, subject, project: 'local', deployment: 'demo' }),
  ]);
  await journal.appendAudit([createAuditRecord(Date.parse('2026-11-15'), 'consent.accepted')]);
  const parts: Parts = {
    ...{ files, applications, consents, perRequestKeys, passages: { index: new SqlPassageIndex(database), owner: 'node' } },
    admin: { journal, readNode: () => fullReport },
    addHooks(app) {
      app.addHook('onRoute', ({ method, url }) => void routes.push(...[method].flat().map((name) => `${name} ${url}`)));
      opsRoutes(app, opsDeps);
    },
  };
  const upstream = await startScriptedUpstream(answerPassThrough);
  const keys = {
    store: new SqlKeyStore(database),
    blockedUsers: new SqlBlockedUserStore(database),
    scim: new SqlScimStore(database, new Seal([new Secret('a secret of this test')])),
    isShared: false,
  };
  const issuer = await startIssuer();
  const token = await issuer.token({ sub: 'ada', roles: userKey.roles });
  const entryStore = new SqlEntryStore(database, new Seal([new Secret('a secret of this test')]));
  const firstStart = new FirstStart({ hasAdministrator: () => false, newId: randomUUID, newSecret: () => 'example' });
  const stores = {
    entryStore,
    alerts: { store: new SqlAlertStore(database), onUndelivered: () => undefined },
    firstStart,
    responses,
    evaluations,
    chats: responseDatabase.chats(),
    shares: responseDatabase.shares(),
    keys,
  };
  const service = await startService(toConfiguration(upstream.endpoint, issuer), { ...parts, ...stores });
  const created = await service.sendRequest({
    path: '/v1/responses',
    headers: { ...credentials.apiKey, 'content-type': 'application/json' },
    body: { model: 'demo', input: 'Hello' },
  });
  const response = { ...(created.json as JsonObject), id: exampleNames.response, background: true };
  return {
    url: service.url,
    routes,
    perRequest: toCredentials(perRequest),
    signedIn: toCredentials(token),
    async restore() {
      const { prompt, conversation } = exampleNames;
      for (const [path, content, targetBucket] of [
        ['notes/hours.txt', 'The library is open.', bucket],
        [prompt, '{"id": "p", "folderId": "f", "name": "n", "content": ""}', `~prompts-${bucket}`],
        [conversation, '{"id": "c", "folderId": "f", "name": "n", "messages": []}', `~conversations-${bucket}`],
      ] as const) {
        const file = files.blobs.file(path, content, targetBucket);
        await files.index.put(
          { ...file, contentType: targetBucket === bucket ? file.contentType : 'application/json' },
          undefined,
          1e9,
        );
      }
      await putResponse(responses, response);
      await putChatRun(responses);
      await putChat(responseDatabase.chats());
      await putShare(responseDatabase.chats(), responseDatabase.shares(), await files.index.find(bucket, 'notes/hours.txt'));
      await applications.delete(application.id, undefined);
      for (const etag of ['one', 'two']) await applications.put({ ...application, etag }, undefined);
      await putEvaluation(evaluations.store);
      await database.run((kysely) => kysely.deleteFrom('api_keys').execute());
      await keys.store.add(userKey, 10);
      await keys.blockedUsers.put({ user: exampleNames.blockedUser, reason: null, blockedAtMs: 1, blockedBy: subject });
      await putEntries(database, entryStore);
      await putProvisioned(keys.scim);
      firstStart.offer(service.snapshot.current().configuration);
      await consents.delete(subject, 'sample-with-consent');
      await consents.put(subject, { deployment: 'sample-account', form: {}, acceptedAtMs: 1 });
    },
    async [Symbol.asyncDispose]() {
      await service.close();
      await upstream.close();
      await issuer.stop();
      await responseDatabase[Symbol.asyncDispose]();
      await close();
      await fresh[Symbol.asyncDispose]();
    },
  };
}

const hello = { type: 'message', status: 'completed', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] };

/** Restores the response and the conversation of the examples. */
async function putResponse({ responses, conversations }: ResponseStores, response: JsonObject): Promise<void> {
  const { response: id, responsesConversation: talk, item } = exampleNames;
  await responses.delete({ id, subject });
  const times = { createdAtMs: 1, expiresAtMs: Number.MAX_SAFE_INTEGER };
  const input = [{ id: `${item}_of_response`, ...hello }];
  await responses.add({
    ...{ id, subject, status: 'completed', isBackground: true, previousId: undefined },
    ...times,
    response,
    input,
  });
  await conversations.delete({ id: talk, subject });
  await conversations.add({ id: talk, subject, createdAtMs: 1, metadata: {} }, [{ id: item, ...hello }]);
}

/** Restores the chat run of the examples, and deletes the one that an example starts. */
async function putChatRun({ responses }: ResponseStores): Promise<void> {
  const caller = { subject, project: 'local', roles: [], chain: null };
  const [ref, started] = [toChatRunRef(caller, exampleNames.chatRun), toChatRunRef(caller, exampleNames.newChatRun)];
  for (const each of [ref, started]) await responses.delete(each);
  const run = { id: exampleNames.chatRun, object: 'chat.run', created_at: 1, model: 'demo', status: 'completed' };
  await responses.add({
    ...{ ...ref, status: 'completed', isBackground: true, isChatRun: true, previousId: undefined },
    ...{ createdAtMs: 1, expiresAtMs: Number.MAX_SAFE_INTEGER, response: { run }, input: [] },
  });
}

/** Restores the run-time entries of the examples, which one change created. */
async function putEntries(database: SqlDatabase, store: EntryStore): Promise<void> {
  await database.run(async (kysely) => {
    await kysely.deleteFrom('runtime_entries').execute();
    await kysely.deleteFrom('runtime_changes').execute();
    await kysely.deleteFrom('runtime_revoked_keys').execute();
    await kysely.updateTable('runtime_revision').set({ revision: 0 }).execute();
  });
  const writes = entryKindNames.map((kind) => {
    const issuer = kind === 'identity-providers' && { issuer: 'https://runtime.example' };
    return { kind, id: toEntryExample(kind), before: undefined, after: { value: { ...entryExamples[kind], ...issuer } } };
  });
  await store.commit(0, {
    id: exampleNames.adminChange,
    atMs: 1,
    author: subject,
    action: 'applied',
    writes,
    revokedDigests: [],
  });
}

/** Restores the user and the group that a provider provisioned. */
async function putProvisioned(store: ScimStore): Promise<void> {
  const { resources: users } = await store.listUsers({ filter: undefined, offset: 0, limit: 100 });
  for (const { id } of users) await store.deleteUser(id, undefined);
  const { resources: groups } = await store.listGroups({ filter: undefined, offset: 0, limit: 100 });
  for (const { id } of groups) await store.deleteGroup(id);
  const times = { externalId: null, createdAtMs: 1, updatedAtMs: 1 };
  const { scimUser, scimGroup } = exampleNames;
  await store.addUser({ id: scimUser, userName: 'ada', isActive: true, attributes: {}, ...times }, undefined);
  await store.addGroup({ id: scimGroup, displayName: 'Editors of the group', ...times }, []);
}

/** Entries of the files that the examples copy to run time. */
function toFileEntries(): Record<string, JsonObject> {
  const sections = entryKindNames.map((kind): [string, JsonObject] => {
    const value = { ...entryExamples[kind], ...(kind === 'keys' && { sha256: hash('sha256', 'a key of the files') }) };
    const issuer = kind === 'identity-providers' && { issuer: 'https://files.example' };
    return [entryKinds[kind].section, { [toFileEntryExample(kind)]: { ...value, ...issuer } }];
  });
  return Object.fromEntries(sections);
}

/** Restores the case and the evaluation of the examples, which are deleted with the application. */
async function putEvaluation(store: EvaluationStores['store']): Promise<void> {
  const { evaluationCase: caseId, evaluation: id } = exampleNames;
  const evaluationCase = { name: 'Greeting', input: 'Hello', checks: [{ type: 'contains' as const, text: 'Hello' }] };
  await store.cases.add([{ id: caseId, application: application.id, case: evaluationCase, createdAtMs: 1, updatedAtMs: 1 }]);
  const counts = { total: 1, tally: { passed: 0, failed: 0, errors: 0 } };
  const open = { endedAtMs: undefined, error: undefined, costUsd: undefined, digest: undefined };
  const evaluation = {
    id,
    application: application.id,
    version: 1,
    subject,
    status: 'in_progress' as const,
    ...counts,
    startedAtMs: 1,
    ...open,
  };
  await store.begin(evaluation, 'node', { maxStored: 20, maxBytes: 1e9, maxInProgress: 100 });
  const [check] = evaluationCase.checks;
  await store.addResult(id, 'node', {
    ...{
      nth: 0,
      caseId,
      case: evaluationCase,
      outcome: 'passed',
      answer: 'Hello',
      toolRuns: [],
      error: null,
      usage: [],
      durationMs: 1,
    },
    ...{ verdicts: check ? [{ check, passed: true, reason: 'The answer contains the text.' }] : [], costUsd: 0, trace: [] },
  });
  await store.end(id, 'node', { status: 'completed', endedAtMs: 2, error: undefined, costUsd: 0, digest: 'd' });
}

/** Restores the chat of the examples. */
async function putChat(chats: ChatStore): Promise<void> {
  const change = { updatedAtMs: 1, fields: { title: 'Opening hours' }, extra: {}, turns: [] };
  const bounds = { maxBytesPerChat: 1e6, maxBytesPerUser: 1e9, condition: undefined };
  await chats.write({ subject, id: exampleNames.chatId }, change, bounds);
}

/** Restores the share of the example chat, with a stored file. */
async function putShare(chats: ChatStore, shares: ShareStore, file: FileInfo | undefined): Promise<void> {
  const { chatId, share: id, shareToken } = exampleNames;
  const chat = { subject, id: chatId };
  const { head } = (await chats.readChat(chat, 0)) ?? {};
  const files = file === undefined ? [] : [{ path: file.path, etag: file.etag }];
  const snapshot = { title: 'Opening hours', deployment: 'demo', turns: [], files };
  const times = { createdAtMs: 1, expiresAtMs: Number.MAX_SAFE_INTEGER };
  const share = { id, tokenHash: hash('sha256', shareToken, 'base64url'), ...times, snapshot, revision: head?.revision ?? 0 };
  await shares.revoke(subject, id, 1);
  await shares.share(chat, share, { maxPerUser: 10, maxBytesPerUser: 1e6 });
}

/** An API key of the user who signed in. */
const userKey: StoredKey = {
  ...{ id: exampleNames.key, owner: 'jwt:own:ada', project: 'own', roles: ['maker'], signedInAtMs: 1, name: 'Notebook' },
  ...{ prefix: 'parley_u_abcde', digest: 'd', version: 1, former: null, deployments: null, allowedIps: null },
  ...{ createdAtMs: 1, expiresAtMs: Number.MAX_SAFE_INTEGER, lastUsedAtMs: null },
};

const application = {
  id: `applications/${bucket}/guide`,
  owner: subject,
  entry: quickApp({ starters: ['When is it open?'] }, { userRoles: ['staff'] }) as unknown as ApplicationEntry,
  createdAtMs: 1,
  updatedAtMs: 2,
};

const opsDeps = {
  version: '0',
  uptimeSeconds: () => 1,
  listIssues: () => [{ code: 'store_away', message: 'The store is out of reach.' }],
  listObstacles: () => [],
  readMetrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'up 1\n' }),
  operations: listApiOperations({ aliases }),
};

/** Answers example requests to pass-through APIs. */
function answerPassThrough({ received, response }: UpstreamExchange): void {
  const { answerField: answer } = passThroughTraits[received.path.replace('/v1/', '') as PassThroughApi];
  const [type, body] = answer === 'audio' ? ['audio/mpeg', 'sound'] : ['application/json', `{"${answer}": []}`];
  response.writeHead(200, { 'content-type': type }).end(body);
}

/** Creates the default configuration with identity providers and a model for pass-through APIs. */
function toConfiguration(endpoint: string, issuer: Issuer): object {
  const sample = { origin: 'http://127.0.0.1:9', secret: new Secret('a secret of this test') };
  const accepted = createDefaultConfiguration({ environment: {}, ollamaTags: undefined }, { key, sample });
  if ('errors' in accepted) throw new Error('the embedded default is refused');
  const signIn = {
    clientId: 'page',
    authorizationEndpoint: 'https://sso.example/authorize',
    tokenEndpoint: 'https://sso.example/token',
  };
  const { configuration } = accepted;
  const models = {
    ...configuration.models,
    [exampleNames.passThroughModel]: { upstreams: [{ endpoint, api: passThroughApis }] },
  };
  const company = { issuer: 'https://sso.example', signIn };
  const roles = { ...configuration.roles, maker: { selfService: { keys: 100, maxDays: 365 } } };
  const files = toFileEntries();
  return {
    ...configuration,
    models: { ...models, ...files.models },
    applications: { ...configuration.applications, ...files.applications },
    addons: { ...configuration.addons, ...files.addons },
    prompts: { ...configuration.prompts, ...files.prompts },
    keys: { local: { ...configuration.keys.local, roles: ['default', 'admin', 'scim'] }, ...files.keys },
    roles: { ...roles, ...files.roles },
    projects: { ...files.projects },
    users: { ...files.users },
    limitResets: { ...files.limitResets },
    identityProviders: { company, own: createProviderEntry(issuer, { rolesClaim: 'roles' }), ...files.identityProviders },
  };
}

const configurationError = { file: 'parley.json', path: 'models.gpt', message: 'is not known', hint: 'models' };
const reason = { code: 'configuration_refused', message: 'The configuration was refused.' };

/** A node report with an entry in every list. */
const fullReport: NodeReport = {
  ...report,
  health: { status: 'degraded', reasons: [reason] },
  hindrances: [reason],
  upstreams: [
    {
      ...{
        id: 'demo/0',
        deployment: 'demo',
        displayName: null,
        protocol: 'demo',
        origin: null,
        region: null,
        model: 'demo',
        weight: 1,
        parallel: null,
        maxParallel: null,
        tier: 0,
      },
      ...{ state: 'failing', failuresInARow: 2, refusedStatus: null, lastError: null, offUntil: 3 },
    },
  ],
  queues: [{ deployment: 'demo', size: 1, waitTime: 1_200 }],
  configuration: {
    files: ['parley.json'],
    loadedAt: 1,
    refusedAt: 2,
    faults: [configurationError],
    warnings: [configurationError],
  },
};
