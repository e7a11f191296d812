import { sql } from 'kysely';
import { isStorableKey } from '#base/text/storable-key.ts';
import { foldName, type PeopleSearch, type PeopleStore, type Person, type SignedInPerson } from '#domain/callers/people-store.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';

const columns = ['id', 'name', 'address'] as const;

/** People in a table with one row each, and their roles in another. */
export class SqlPeopleStore implements PeopleStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async record({ id, name, address, project, roles, seenAtMs }: SignedInPerson, deleteBeforeMs: number): Promise<void> {
    if (!isStorableKey(id)) return;
    const row = {
      ...{ name, address, project, seen_at_ms: seenAtMs },
      ...{ folded_name: foldName(name ?? id), folded_address: address?.toLowerCase() ?? null },
    };
    const storedRoles = [...new Set(roles)].filter(isStorableKey);
    await this.#database.transact(async (transaction) => {
      await transaction
        .insertInto('people')
        .values({ id, ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute();
      await transaction.deleteFrom('person_roles').where('person', '=', id).execute();
      if (storedRoles.length > 0)
        await transaction
          .insertInto('person_roles')
          .values(storedRoles.map((role) => ({ role, person: id })))
          .execute();
      await transaction.deleteFrom('people').where('seen_at_ms', '<', deleteBeforeMs).execute();
    });
  }

  async find(ids: readonly string[]): Promise<readonly Person[]> {
    const storable = ids.filter(isStorableKey);
    if (storable.length === 0) return [];
    return this.#database.run((kysely) => kysely.selectFrom('people').select(columns).where('id', 'in', storable).execute());
  }

  async findByAddress(address: string, limit: number): Promise<readonly Person[]> {
    if (!isStorableKey(address)) return [];
    return this.#database.run((kysely) =>
      kysely
        .selectFrom('people')
        .select(columns)
        .where('folded_address', '=', address.toLowerCase())
        .orderBy('id')
        .limit(limit)
        .execute(),
    );
  }

  async search({ text, project, roles, limit }: PeopleSearch): Promise<readonly Person[]> {
    const sharedRoles = roles.filter(isStorableKey);
    const start = foldName(text);
    if (!isStorableKey(start) || (sharedRoles.length === 0 && project === null)) return [];
    // Both engines count code points in `substr`. Unlike `like`, a comparison with `=` needs no escapes.
    const length = sql.lit([...start].length);
    return this.#database.run((kysely) =>
      kysely
        .selectFrom('people')
        .select(columns)
        .where(({ eb, or, selectFrom }) =>
          or([
            ...(project === null ? [] : [eb('project', '=', project)]),
            ...(sharedRoles.length === 0
              ? []
              : [eb('id', 'in', selectFrom('person_roles').select('person').where('role', 'in', sharedRoles))]),
          ]),
        )
        .where(({ or }) =>
          or([
            sql<boolean>`substr(folded_name, 1, ${length}) = ${start}`,
            sql<boolean>`length(replace(folded_name, ${` ${start}`}, '')) < length(folded_name)`,
          ]),
        )
        .orderBy('folded_name')
        .orderBy('id')
        .limit(limit)
        .execute(),
    );
  }

  async hasRole(role: string): Promise<boolean> {
    if (!isStorableKey(role)) return false;
    const row = await this.#database.run((kysely) =>
      kysely.selectFrom('person_roles').select('role').where('role', '=', role).limit(1).executeTakeFirst(),
    );
    return row !== undefined;
  }
}
