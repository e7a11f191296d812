import { randomUUID } from 'node:crypto';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { AuditRecord, UsageRecord } from '#domain/usage/journal.ts';
import { SqlEntryStore } from '#stores/sql/administration/entry-store.ts';
import { SqlBlockedUserStore } from '#stores/sql/callers/blocked-user-store.ts';
import { SqlKeyStore } from '#stores/sql/callers/key-store.ts';
import { SqlCallContents } from '#stores/sql/journal/call-contents.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { SqlAlertStore } from '#stores/sql/limits/alert-store.ts';
import type { NodeReport } from '#surfaces/admin/node-report.ts';
import type { TestResponse } from '#test/send-request.ts';
import { freshSqlite } from '#test/sql-engines.ts';
import { startService, type TestService } from '#test/start-service.ts';

export type { NodeReport };

/** A service with a journal in an SQLite database. */
export interface AdminHouse extends AsyncDisposable {
  readonly service: TestService;
  readonly journal: SqlJournal;
  readonly contents: SqlCallContents;
  readonly file: string;
  /** Sends a GET request, by default with the key of an administrator. */
  get(path: string, key?: string): Promise<TestResponse>;
}

const healthy = { status: 'ok', reasons: [] } as const;

export const report: NodeReport = {
  node: { version: '1.2.3', runtime: 'v1', startedAt: 1, now: 2 },
  health: healthy,
  hindrances: [],
  stores: [{ holds: 'records', kind: 'sqlite', isAway: false }],
  upstreams: [],
  queues: [],
  configuration: { files: [], loadedAt: 1, refusedAt: null, faults: [], warnings: [] },
};

const keys = { 'admin-key': { project: 'office', role: 'admin' }, 'user-key': { project: 'user', role: 'staff' } };

/** Starts the service. `readNode` returns the reported state of the node. */
export async function startAdminService(
  configuration: object = {},
  readNode = () => report,
  start = startService,
): Promise<AdminHouse> {
  const sqlite = await freshSqlite();
  const { database, close } = await sqlite.open();
  const journal = new SqlJournal(database);
  const contents = new SqlCallContents(database, new Seal([new Secret('a secret of this test')]));
  const service = await start({ keys, ...configuration }, { admin: { journal, callContents: contents, readNode } });
  return {
    ...{ service, journal, contents, file: sqlite.file },
    get: (path, key = 'admin-key') => service.sendRequest({ method: 'GET', path, headers: { 'api-key': key } }),
    async [Symbol.asyncDispose]() {
      await service.close();
      await close();
      await sqlite[Symbol.asyncDispose]();
    },
  };
}

/** Starts a service whose configuration can be changed at run time. */
export async function startRuntimeAdmin(configuration: object, readNode = () => report): Promise<TestService> {
  const sqlite = await freshSqlite();
  const { database, close } = await sqlite.open();
  const entryStore = new SqlEntryStore(database, new Seal([new Secret('a secret of this test')]));
  const admin = { journal: new SqlJournal(database), readNode };
  const keys = { store: new SqlKeyStore(database), blockedUsers: new SqlBlockedUserStore(database), isShared: true };
  const alerts = { store: new SqlAlertStore(database), onUndelivered: () => undefined };
  const service = await startService(configuration, { entryStore, admin, keys, alerts });
  return {
    ...service,
    async [Symbol.asyncDispose]() {
      await service.close();
      await close();
      await sqlite[Symbol.asyncDispose]();
    },
  };
}

/** Returns a usage record at 12:00 UTC of this day. */
export function createUsageRecord(day: string, fields: Partial<UsageRecord> = {}): UsageRecord {
  const deployment = fields.deployment ?? 'model';
  const amounts = { promptTokens: 10, completionTokens: 5, cost: 1_000_000_000, durationMs: 1 };
  return {
    ...{ id: randomUUID(), requestId: 'request', atMs: Date.parse(`${day}T12:00:00Z`), subject: 'ada', project: 'lab' },
    ...{ deployment, path: [deployment], operation: 'chat', outcome: 'ok', status: 200, ...amounts },
    ...fields,
  };
}

export function createAuditRecord(atMs: number, action: string): AuditRecord {
  return { id: randomUUID(), atMs, action, subject: 'ada', object: 'app', requestId: 'request', details: { count: 1 } };
}
