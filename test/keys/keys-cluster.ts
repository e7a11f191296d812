import type { ServiceDeps } from '#app/service/service-deps.ts';
import { SqlBlockedUserStore } from '#stores/sql/callers/blocked-user-store.ts';
import { SqlKeyStore } from '#stores/sql/callers/key-store.ts';
import { SqlPeopleStore } from '#stores/sql/callers/people-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { SqlScimStore } from '#stores/sql/scim/scim-store.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { openResponses } from '#test/response-stores.ts';
import { type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { type ServiceOptions, startService, type TestService } from '#test/start-service.ts';
import { seal } from '../admin/entries-cluster.ts';
import { report } from '../admin/support.ts';
import { AdjustableClock, createProviderEntry, type Issuer, startIssuer } from '../identity/support.ts';

/** Two nodes on one database, an identity provider, and a scripted upstream. */
export interface KeysCluster extends AsyncDisposable {
  readonly database: SqlDatabase;
  readonly nodes: readonly [TestService, TestService];
  readonly clock: AdjustableClock;
  readonly issuer: Issuer;
  readonly upstream: ScriptedUpstream;
  /** The store of provisioned users and groups of both nodes. */
  readonly scimStore: SqlScimStore;
  readonly audited: { readonly action: string; readonly subject: string | undefined; readonly object: string | undefined }[];
  /** Reloads both nodes with these sections, or with the initial configuration by default. */
  configure(otherSections?: object): void;
}

/** The response to the creation of a key. Only this response contains the key itself. */
export interface CreatedKey {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly prefix: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastUsedAt: number | null;
}

export const roles = { maker: { selfService: { keys: 3, maxDays: 30 } }, plain: {} };

export async function startKeysCluster(
  engine: 'SQLite' | 'PostgreSQL',
  options: ServiceOptions & Pick<ServiceDeps, 'addHooks'> = {},
): Promise<KeysCluster> {
  const responseDatabase = await openResponses(engine);
  const issuer = await startIssuer();
  const upstream = await startScriptedUpstream();
  const clock = new AdjustableClock();
  const scimStore = new SqlScimStore(responseDatabase.database, seal);
  const audited: KeysCluster['audited'] = [];
  const upstreams = [{ endpoint: upstream.endpoint, key: 'k', model: 'm' }];
  const configuration = (otherSections: object = {}): object => ({
    models: { m: { upstreams, maxRetryAttempts: 1 }, other: { upstreams, maxRetryAttempts: 1 } },
    applications: { app: { endpoint: `${upstream.url}/app` } },
    identityProviders: { corporate: createProviderEntry(issuer, { rolesClaim: 'roles' }) },
    roles,
    security: { allowPrivateNetworks: ['127.0.0.1/32'] },
    ...otherSections,
  });
  const start = () =>
    startService(configuration(), {
      keys: {
        store: new SqlKeyStore(responseDatabase.database),
        blockedUsers: new SqlBlockedUserStore(responseDatabase.database),
        scim: scimStore,
        people: new SqlPeopleStore(responseDatabase.database),
        isShared: true,
      },
      admin: { journal: new SqlJournal(responseDatabase.database), readNode: () => report },
      responses: { ...responseDatabase.stores(), isShared: true },
      files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() },
      ...responseDatabase.evaluating(),
      clock,
      recordAudit: ({ action, subject, object }) => void audited.push({ action, subject, object }),
      ...options,
    });
  const nodes = [await start(), await start()] as const;
  return {
    ...{ database: responseDatabase.database, nodes, clock, issuer, upstream, scimStore, audited },
    configure(otherSections) {
      for (const node of nodes) node.reload(configuration(otherSections));
    },
    async [Symbol.asyncDispose]() {
      for (const node of nodes) await node.close();
      await upstream.close();
      await issuer.stop();
      await responseDatabase[Symbol.asyncDispose]();
    },
  };
}

/** Sends a request with a key or token, and the body as JSON. */
export function sendWithCredentials(
  node: { readonly url: string },
  credentials: string,
  path: string,
  options: object = {},
): Promise<TestResponse> {
  const { method = 'GET', body, headers = {} } = options as { method?: string; body?: object; headers?: Record<string, string> };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return sendRequest(node.url, { method, path, headers: { authorization: `Bearer ${credentials}`, ...type, ...headers }, body });
}

/** Creates a key for the user of a token. */
export async function createUserKey(node: { readonly url: string }, token: string, body: object = {}): Promise<CreatedKey> {
  const response = await sendWithCredentials(node, token, '/v1/user/keys', { method: 'POST', body });
  if (response.status !== 201) throw new Error(response.text);
  return response.json as CreatedKey;
}

/** Returns the user of a key or token according to a node, or the status and code of the rejection. */
export async function identifyWithNode(
  node: { readonly url: string },
  credentials: string,
  headers: object = {},
): Promise<string> {
  const { status, json, error } = await sendWithCredentials(node, credentials, '/v1/user/info', { headers });
  return status === 200 ? (json as { user: string }).user : `${status} ${error.code}`;
}

/** Sends a chat request. Returns the status, and the error code of a rejection. */
export async function chat(node: { readonly url: string }, credentials: string, model = 'm'): Promise<string> {
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] };
  const { status, error } = await sendWithCredentials(node, credentials, '/v1/chat/completions', { method: 'POST', body });
  return status === 200 ? '200' : `${status} ${error.code}`;
}

/** Streams a delta every 50 ms until the client disconnects. */
export const talkOn: Reply = async (exchange) => {
  exchange.head();
  while (exchange.received.isOpen) {
    await exchange.events({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'on ' } }] });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
