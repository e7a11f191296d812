import { type Kysely, sql } from 'kysely';
import { isJsonObject, type JsonBounds, type JsonObject, parseJson } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import { type EntryKind, isEntryKind } from '#contract/administration/entry-kinds.ts';
import type {
  ChangePage,
  CommittedChange,
  EntryChange,
  EntryRef,
  EntryStore,
  EntryUpdates,
  EntryWrite,
  ListedChange,
  RuntimeEntry,
  StoredFiles,
} from '#domain/administration/entry-store.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { type ReportInvalidEntry, readEntry, requireStorable, withoutInvalid } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';
import type { ChangeRow, EntryRow } from './administration-tables.ts';

/** Retention of deleted entries. It must exceed the time after which a node without updates reads all entries again. */
const deletedRetentionMs = 10 * 60_000;
/** SQLite and PostgreSQL limit the number of parameters of a statement. */
const rowsPerStatement = 500;
/** Maximum number of writes that a list shows of a change. All writes of a change can have tens of megabytes. */
const maxListedWrites = 20;
/** Maximum size of a page of more than one change, because each write can be large. */
const maxPageBytes = 4 * 1024 ** 2;
/** Bounds of stored JSON. A change can contain all entries twice, before and after it. */
const storedBounds: JsonBounds = { maxDepth: 100, maxNodes: Number.POSITIVE_INFINITY };

const fileLayerId = 1;
export const filesContext = 'configuration files';

/** Entries in a table with one row each. Values and changes are sealed, because they can contain secrets. */
export class SqlEntryStore implements EntryStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  readonly #reportInvalid: ReportInvalidEntry;

  constructor(database: SqlDatabase, seal: Seal, reportInvalid: ReportInvalidEntry = () => undefined) {
    this.#database = database;
    this.#seal = seal;
    this.#reportInvalid = reportInvalid;
  }

  /** Reads the revision first. A change between the two reads is returned now, and again by the next call. */
  readUpdates(sinceRevision: number): Promise<EntryUpdates> {
    return this.#database.run(async (kysely) => {
      const { revision } = await kysely.selectFrom('runtime_revision').select('revision').executeTakeFirstOrThrow();
      if (revision === sinceRevision) return { revision, entries: [], deleted: [] };
      const rows = await kysely
        .selectFrom('runtime_entries')
        .selectAll()
        .where('revision', '>', sinceRevision)
        .orderBy('created_at_ms')
        .orderBy('id')
        .execute();
      const entries: RuntimeEntry[] = [];
      const deleted: EntryRef[] = [];
      for (const row of rows) {
        if (!isEntryKind(row.kind)) continue;
        const entry = row.sealed_entry === null ? undefined : this.#openEntry(row, row.kind);
        if (entry === undefined) deleted.push({ kind: row.kind, id: row.id });
        else entries.push(entry);
      }
      const files = await kysely.selectFrom('file_layer').selectAll().where('revision', '>', sinceRevision).executeTakeFirst();
      return { revision, entries, deleted, ...(files && { files: this.#openFiles(files) }) };
    });
  }

  digestFiles(text: string): string {
    return this.#seal.sign(text, filesContext);
  }

  commitFiles(
    expected: number,
    { digest, text }: { readonly digest: string; readonly text: string },
  ): Promise<number | 'conflict'> {
    const sealed = this.#seal.seal(text, filesContext);
    return this.#database.transact(async (transaction) => {
      const revision = await incrementRevision(transaction, expected);
      if (revision === undefined) return 'conflict';
      const fields = { revision, digest, sealed_files: sealed };
      await transaction
        .insertInto('file_layer')
        .values({ id: fileLayerId, ...fields })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(fields))
        .execute();
      return revision;
    });
  }

  #openFiles({ digest, sealed_files }: { readonly digest: string; readonly sealed_files: string }): StoredFiles {
    const open = () => this.#seal.open(sealed_files, filesContext);
    return { digest, text: readEntry({ kind: 'configuration', id: 'files', reportInvalid: this.#reportInvalid }, open) };
  }

  async commit(expected: number, change: EntryChange): Promise<number | 'conflict'> {
    requireStorable(...change.writes.map(({ id }) => id));
    return this.#database.transact(async (transaction) => {
      const revision = await incrementRevision(transaction, expected);
      if (revision === undefined) return 'conflict';
      await transaction.insertInto('runtime_changes').values(this.#toChangeRow(change, revision)).execute();
      const rows = change.writes.map((write) => this.#toEntryRow(write, change, revision));
      for (const batch of splitIntoBatches(rows, rowsPerStatement)) await upsert(transaction, batch);
      const revoked = (change.revokedDigests ?? []).map((sha256) => ({ sha256, at_ms: change.atMs }));
      for (const batch of splitIntoBatches(revoked, rowsPerStatement))
        await transaction
          .insertInto('runtime_revoked_keys')
          .values(batch)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      await transaction
        .deleteFrom('runtime_entries')
        .where('sealed_entry', 'is', null)
        .where('updated_at_ms', '<', change.atMs - deletedRetentionMs)
        .execute();
      return revision;
    });
  }

  async findRevoked(digests: readonly string[]): Promise<readonly string[]> {
    const rows = await Array.fromAsync(splitIntoBatches(digests, rowsPerStatement), (batch) =>
      this.#database.run((kysely) =>
        kysely.selectFrom('runtime_revoked_keys').select('sha256').where('sha256', 'in', batch).execute(),
      ),
    );
    return rows.flat().map(({ sha256 }) => sha256);
  }

  async listChanges({ beforeRevision, limit }: { beforeRevision: number; limit: number }): Promise<ChangePage> {
    const before = Number.isFinite(beforeRevision) ? beforeRevision : Number.MAX_SAFE_INTEGER;
    const rows = await this.#database.run(async (kysely) => {
      const sizes = await kysely
        .selectFrom('runtime_changes')
        .select(['revision', sql<number>`length(coalesce(sealed_first_writes, sealed_writes))`.as('bytes')])
        .where('revision', '<', before)
        .orderBy('revision', 'desc')
        .limit(limit + 1)
        .execute();
      const last = sizes[countOnPage(sizes.slice(0, limit)) - 1];
      if (last === undefined) return { page: [], nextRevision: null };
      const page = await kysely
        .selectFrom('runtime_changes')
        .select(['id', 'revision', 'at_ms', 'author', 'action', 'undoes', 'write_count', 'sealed_first_writes'])
        .select(sql<string>`case when sealed_first_writes is null then sealed_writes else '' end`.as('sealed_writes'))
        .where('revision', '<', before)
        .where('revision', '>=', last.revision)
        .orderBy('revision', 'desc')
        .execute();
      return { page, nextRevision: last === sizes.at(-1) ? null : last.revision };
    });
    return { changes: withoutInvalid(rows.page.map((row) => this.#openListedChange(row))), nextRevision: rows.nextRevision };
  }

  async findChange(id: string): Promise<CommittedChange | undefined> {
    if (!isStorableKey(id)) return undefined;
    const row = await this.#database.run((kysely) =>
      kysely.selectFrom('runtime_changes').selectAll().where('id', '=', id).executeTakeFirst(),
    );
    return row && this.#openChange(row);
  }

  #toEntryRow({ kind, id, before, after }: EntryWrite, { atMs }: EntryChange, revision: number): EntryRow {
    const sealed = after === undefined ? null : this.#seal.seal(JSON.stringify(after), toEntryContext(kind, id));
    const times = { created_at_ms: before?.createdAtMs ?? atMs, updated_at_ms: atMs };
    return { kind, id, revision, ...times, sealed_entry: sealed };
  }

  #openEntry({ id, revision, created_at_ms, updated_at_ms, sealed_entry }: EntryRow, kind: EntryKind): RuntimeEntry | undefined {
    return readEntry({ kind, id, reportInvalid: this.#reportInvalid }, () => {
      const { value, keyPrefix } = parseJson(
        this.#seal.open(sealed_entry ?? '', toEntryContext(kind, id)),
        storedBounds,
      ) as JsonObject;
      if (!isJsonObject(value)) throw new Error('the stored entry is not an object');
      const times = { createdAtMs: created_at_ms, updatedAtMs: updated_at_ms };
      return { kind, id, revision, ...times, value, ...(typeof keyPrefix === 'string' && { keyPrefix }) };
    });
  }

  #toChangeRow({ id, atMs, author, action, undoes, writes }: EntryChange, revision: number): ChangeRow {
    const seal = (part: readonly EntryWrite[], context: string) => this.#seal.seal(JSON.stringify(part), context);
    return {
      ...{ id, revision, at_ms: atMs, author, action, undoes: undoes ?? null },
      sealed_writes: seal(writes, toChangeContext(id)),
      write_count: writes.length,
      sealed_first_writes:
        writes.length > maxListedWrites ? seal(writes.slice(0, maxListedWrites), toFirstWritesContext(id)) : null,
    };
  }

  #openChange(row: ChangeRow): CommittedChange | undefined {
    return this.#readChange(row, () => this.#openWrites(row.sealed_writes, toChangeContext(row.id)));
  }

  /** Changes of earlier versions have no separate first writes. */
  #openListedChange(row: ChangeRow): ListedChange | undefined {
    const { id, sealed_first_writes: first, sealed_writes: all, write_count: count } = row;
    const change = this.#readChange(row, () =>
      first === null ? this.#openWrites(all, toChangeContext(id)) : this.#openWrites(first, toFirstWritesContext(id)),
    );
    return change && { ...change, writes: change.writes.slice(0, maxListedWrites), writeCount: count ?? change.writes.length };
  }

  #readChange(
    { id, revision, at_ms, author, action, undoes }: ChangeRow,
    readWrites: () => readonly EntryWrite[],
  ): CommittedChange | undefined {
    return readEntry({ kind: 'change', id, reportInvalid: this.#reportInvalid }, () => ({
      ...{ id, revision, atMs: at_ms, author, action: action as CommittedChange['action'] },
      ...(undoes !== null && { undoes }),
      writes: readWrites(),
    }));
  }

  #openWrites(sealed: string, context: string): readonly EntryWrite[] {
    return parseJson(this.#seal.open(sealed, context), storedBounds) as readonly EntryWrite[];
  }
}

/** Takes the lock of the row, so that concurrent changes queue here. Returns undefined if the revision is no longer `expected`. */
async function incrementRevision(transaction: Kysely<Schema>, expected: number): Promise<number | undefined> {
  const updated = await transaction
    .updateTable('runtime_revision')
    .set({ revision: expected + 1 })
    .where('revision', '=', expected)
    .returning('revision')
    .executeTakeFirst();
  return updated?.revision;
}

/** Returns how many changes fit on a page. At least one does. */
function countOnPage(sizes: readonly { readonly bytes: number }[]): number {
  let bytes = 0;
  const end = sizes.findIndex((change, index) => {
    bytes += Number(change.bytes);
    return index > 0 && bytes > maxPageBytes;
  });
  return end === -1 ? sizes.length : end;
}

export function toEntryContext(kind: string, id: string): string {
  return JSON.stringify(['runtime entry', kind, id]);
}

export function toChangeContext(id: string): string {
  return JSON.stringify(['runtime change', id]);
}

export function toFirstWritesContext(id: string): string {
  return JSON.stringify(['first writes of a runtime change', id]);
}

async function upsert(transaction: Kysely<Schema>, rows: readonly EntryRow[]): Promise<void> {
  await transaction
    .insertInto('runtime_entries')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(['kind', 'id']).doUpdateSet(({ ref }) => ({
        revision: ref('excluded.revision'),
        created_at_ms: ref('excluded.created_at_ms'),
        updated_at_ms: ref('excluded.updated_at_ms'),
        sealed_entry: ref('excluded.sealed_entry'),
      })),
    )
    .execute();
}
