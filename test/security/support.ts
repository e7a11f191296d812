import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { listApiOperations } from '#app/service/features.ts';
import type { ServiceDeps } from '#app/service/service-deps.ts';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import { SqlEntryStore } from '#stores/sql/administration/entry-store.ts';
import { SqlApplicationStore } from '#stores/sql/applications/application-store.ts';
import { SqlBlockedUserStore } from '#stores/sql/callers/blocked-user-store.ts';
import { SqlKeyStore } from '#stores/sql/callers/key-store.ts';
import { SqlChatStore } from '#stores/sql/chats/chat-store.ts';
import { SqlShareStore } from '#stores/sql/chats/share-store.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { SqlEvaluationStore } from '#stores/sql/evaluations/evaluation-store.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { SqlAlertStore } from '#stores/sql/limits/alert-store.ts';
import { SqlConversationStore } from '#stores/sql/responses/conversation-store.ts';
import { SqlResponseStore } from '#stores/sql/responses/response-store.ts';
import { SqlScimStore } from '#stores/sql/scim/scim-store.ts';
import { opsRoutes } from '#surfaces/ops/routes.ts';
import { plainCompletion } from '#test/chunks.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { type ServiceOptions, startService, type TestService } from '#test/start-service.ts';
import { report } from '../admin/support.ts';

/** The service with every API, as a node serves it, and a server for its applications and models. */
export interface FullService extends AsyncDisposable {
  readonly service: TestService;
  readonly host: ScriptedUpstream;
  /** Registered routes as `METHOD /pattern`. */
  readonly routes: readonly string[];
  /** Internal errors that were reported. */
  readonly internalErrors: readonly string[];
}

type Parts = ServiceOptions & Pick<ServiceDeps, 'files' | 'addHooks' | 'admin'>;

/** Starts the service. `toConfiguration` receives the URL of the host. `storesContent` adds stored responses and chats. */
export async function startFullService(
  toConfiguration: (hostUrl: string) => object,
  { storesContent = false } = {},
): Promise<FullService> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-security-'));
  const host = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  const routes: string[] = [];
  const internalErrors: string[] = [];
  const { database, close: closeDatabase } = await openSqlite(join(folder, 'parley.db'));
  const seal = new Seal([new Secret('a secret of this test')]);
  const responses = new SqlResponseStore(database, seal);
  const applications = new SqlApplicationStore(database, seal);
  const parts: Parts = {
    admin: { journal: new SqlJournal(database), readNode: () => report },
    applications,
    keys: {
      store: new SqlKeyStore(database),
      blockedUsers: new SqlBlockedUserStore(database),
      scim: new SqlScimStore(database, new Seal([new Secret('a secret of this test')])),
      isShared: false,
    },
    entryStore: new SqlEntryStore(database, seal),
    alerts: { store: new SqlAlertStore(database), onUndelivered: () => undefined },
    evaluations: { store: new SqlEvaluationStore(database, seal), leases: responses.runs, isShared: false },
    ...(storesContent && {
      responses: { responses, conversations: new SqlConversationStore(database, seal), isShared: false },
      chats: new SqlChatStore(database, seal),
      shares: new SqlShareStore(database, seal),
    }),
    files: { index: new MemoryFileIndex(), blobs: await DiskBlobStore.open(folder) },
    reportError: (message, error) => internalErrors.push(`${message}: ${describe(error)}`),
    addHooks(app) {
      app.addHook('onRoute', ({ method, url }) => void routes.push(...[method].flat().map((name) => `${name} ${url}`)));
      operatorRoutes(app);
    },
  };
  const service = await startService(toConfiguration(host.url), parts);
  return {
    service,
    host,
    routes,
    internalErrors,
    async [Symbol.asyncDispose]() {
      await service.close();
      await host.close();
      await closeDatabase();
      await rm(folder, { recursive: true });
    },
  };
}

/** Registers the routes for operators like `serve`. */
function operatorRoutes(app: FastifyInstance): void {
  opsRoutes(app, {
    version: '0',
    uptimeSeconds: () => 1,
    listIssues: () => [],
    listObstacles: () => [],
    readMetrics: async () => ({ contentType: 'text/plain', text: '' }),
    operations: listApiOperations({ aliases: { compat: ['openai'], msgapi: ['anthropic'] } }),
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.stack} ${error.cause === undefined ? '' : describe(error.cause)}` : String(error);
}
