import type { Seal } from '#base/secrets/seal.ts';
import type { CallContent, CallContentStore, ContentRecord, ContentUpkeepOptions } from '#domain/usage/call-content.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSealed } from '../engine/stored-values.ts';
import { openRecordDays, type RecordDays, toDayNumber } from './record-days.ts';

/** Content of calls, sealed and stored by day. */
export class SqlCallContents implements CallContentStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  readonly #days: RecordDays;

  constructor(database: SqlDatabase, seal: Seal) {
    this.#database = database;
    this.#seal = seal;
    this.#days = openRecordDays(database, 'contents');
  }

  async append(records: readonly ContentRecord[]): Promise<void> {
    const rows = records.map(({ id, atMs, text }) => ({
      ...{ id, at_ms: atMs },
      sealed_content: this.#seal.seal(text, toContext(id)),
    }));
    await this.#days.insert(rows, (table, tableRows) =>
      this.#database.run((kysely) =>
        kysely
          .insertInto(table as 'call_contents')
          .values(tableRows)
          .onConflict((conflict) => conflict.doNothing())
          .execute(),
      ),
    );
  }

  async find({ id, atMs }: Pick<ContentRecord, 'id' | 'atMs'>): Promise<CallContent | undefined> {
    const sealed = await this.#database.readSnapshot(async (kysely) => {
      const [segment] = await this.#days.listSegments(kysely, { fromMs: atMs, toMs: atMs + 1 });
      if (segment === undefined) return undefined;
      const row = await kysely
        .selectFrom(segment.table as 'call_contents')
        .select('sealed_content')
        .where('id', '=', id)
        .where('at_ms', '=', atMs)
        .executeTakeFirst();
      return row?.sealed_content;
    });
    return sealed === undefined ? undefined : openSealed(this.#seal, sealed, toContext(id));
  }

  async maintain({ nowMs, retentionDays, signal }: ContentUpkeepOptions): Promise<void> {
    for (const segment of await this.#days.listExpired(toDayNumber(nowMs) - retentionDays))
      if (!signal.aborted) await this.#days.drop(segment);
  }
}

function toContext(id: string): string {
  return `call_content ${id}`;
}
