import { expect, vi } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { Clock } from '#base/time/clock.ts';
import type { EntryStore } from '#domain/administration/entry-store.ts';
import { SqlEntryStore } from '#stores/sql/administration/entry-store.ts';
import { SqlBlockedUserStore } from '#stores/sql/callers/blocked-user-store.ts';
import { SqlKeyStore } from '#stores/sql/callers/key-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import type { TestResponse } from '#test/send-request.ts';
import { type AuditEvent, startService, type TestService } from '#test/start-service.ts';
import { report } from './support.ts';

export const seal = new Seal([new Secret('a secret of this test')]);
const admin = { 'api-key': 'admin-key', 'content-type': 'application/json' };
export const demo = { upstreams: [{ protocol: 'demo' }] };

export interface Cluster extends AsyncDisposable {
  readonly nodes: readonly [TestService, TestService];
  readonly audited: AuditEvent[];
  readonly database: SqlDatabase;
}

export interface ClusterOptions {
  readonly opened?: ResponseDatabase;
  readonly clock?: Clock;
  /** Returns the store that a node uses instead of its store. */
  readonly wrap?: (store: EntryStore) => EntryStore;
}

/** Two nodes with the same files and one database. */
export async function startCluster(
  files: object = {},
  { opened, clock, wrap = (store) => store }: ClusterOptions = {},
): Promise<Cluster> {
  const stored = opened ?? (await openResponses('SQLite'));
  const { database } = stored;
  const audited: AuditEvent[] = [];
  const keys = {
    'admin-key': { project: 'office', role: 'admin' },
    'auditor-key': { project: 'audit', role: 'auditor' },
    'user-key': { project: 'user' },
  };
  const start = () =>
    startService(
      { models: { file: demo }, keys, ...files },
      {
        entryStore: wrap(new SqlEntryStore(database, seal)),
        ...(clock && { clock }),
        admin: { journal: new SqlJournal(database), readNode: () => report },
        keys: { store: new SqlKeyStore(database), blockedUsers: new SqlBlockedUserStore(database), isShared: true },
        responses: { ...stored.stores(), isShared: true },
        recordAudit: (event) => void audited.push(event),
      },
    );
  const nodes = [await start(), await start()] as const;
  return {
    ...{ nodes, audited, database },
    async [Symbol.asyncDispose]() {
      for (const node of nodes) await node.close();
      if (opened === undefined) await stored[Symbol.asyncDispose]();
    },
  };
}

export function send(node: TestService, method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, body?: object, headers = {}) {
  return node.sendRequest({ method, path: `/v1/admin/${path}`, headers: { ...admin, ...headers }, ...(body && { body }) });
}

export function read(response: TestResponse): Record<string, never> & { readonly data: Record<string, never>[] } {
  return JSON.parse(response.text) as never;
}

export function getError(response: TestResponse): { status: number; code: string; param: string; message: string } {
  const { error } = JSON.parse(response.text) as { error: { code: string; param: string; message: string } };
  return { status: response.status, code: error.code, param: error.param, message: error.message };
}

export const until = (isMet: () => Promise<boolean>): Promise<void> =>
  vi.waitFor(async () => expect(await isMet()).toBe(true), { timeout: 10_000, interval: 20 });
export const call = (node: TestService, deployment: string, key = 'admin-key') =>
  node.chat(deployment, { messages: [{ role: 'user', content: 'hello' }] }, { 'api-key': key });
