import type { ContentsLocation, UnlocatedDatabase } from '#domain/files/blob-store.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';

const maxSampledBlobs = 10;

/** Stores the location of the file contents in the row that names the database. */
export class SqlContentsLocation implements ContentsLocation {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async resolveName(choose: (database: UnlocatedDatabase) => Promise<string | undefined>): Promise<string | undefined> {
    const recorded = await this.#database.run((kysely) =>
      kysely.selectFrom('database_name').select('contents_place').executeTakeFirstOrThrow(),
    );
    if (recorded.contents_place !== null) return recorded.contents_place;
    return this.#database.transact(async (transaction) => {
      // Locks the row, so that only one node chooses the location.
      const { name: database, contents_place } = await transaction
        .updateTable('database_name')
        .set(({ ref }) => ({ name: ref('name') }))
        .returningAll()
        .executeTakeFirstOrThrow();
      if (contents_place !== null) return contents_place;
      const used = await transaction.selectFrom('files').select('blob').limit(maxSampledBlobs).execute();
      const name = await choose({ database, blobs: used.map(({ blob }) => blob) });
      if (name !== undefined) await transaction.updateTable('database_name').set({ contents_place: name }).execute();
      return name;
    });
  }
}
