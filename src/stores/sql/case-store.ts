import type { Kysely } from 'kysely';
import type { Seal } from '#base/seal.ts';
import { caseBounds, type EvaluationCase } from '#contract/evaluation/evaluation-case.ts';
import type { StoredCase } from '#domain/evaluation/evaluation.ts';
import type { CaseStore } from '#domain/evaluation/evaluation-store.ts';
import { lockRow } from './application-rows.ts';
import type { CaseRow } from './evaluation-schema.ts';
import { openSealed } from './open-sealed.ts';
import type { Schema } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';

const rowsAtOnce = 50;
/** What sealing adds, at most: base64, and a head. */
const sealedShare = 1.5;

/** Cases of applications, a row each; what is asked is sealed. */
export class SqlCaseStore implements CaseStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;

  constructor(database: SqlDatabase, seal: Seal) {
    this.#database = database;
    this.#seal = seal;
  }

  async list(application: string): Promise<readonly StoredCase[]> {
    const rows = await this.#database.run((kysely) =>
      kysely.selectFrom('evaluation_cases').selectAll().where('application', '=', application).orderBy('version').execute(),
    );
    return rows.map((row) => this.#toCase(row));
  }

  async find(id: string): Promise<StoredCase | undefined> {
    const row = await this.#database.run((kysely) =>
      kysely.selectFrom('evaluation_cases').selectAll().where('id', '=', id).executeTakeFirst(),
    );
    return row && this.#toCase(row);
  }

  add(cases: readonly StoredCase[]): Promise<'added' | 'absent' | 'full'> {
    const [first] = cases;
    if (first === undefined) return Promise.resolve('added');
    return this.#database.transact(async (transaction) => {
      // Who else adds to it waits.
      if ((await lockRow(transaction, first.application)) === undefined) return 'absent';
      const { count, chars, last } = await taken(transaction, first.application);
      const rows = cases.map((stored, nth) => this.#toRow(stored, last + nth + 1));
      if (count + rows.length > caseBounds.mostCases || chars + charsOf(rows) > caseBounds.maxCharsOfAll * sealedShare)
        return 'full';
      for (let from = 0; from < rows.length; from += rowsAtOnce) {
        const some = rows.slice(from, from + rowsAtOnce);
        await transaction.insertInto('evaluation_cases').values(some).execute();
      }
      return 'added';
    });
  }

  async replace({ id, case: entry, updatedAtMs }: StoredCase): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.run((kysely) =>
      kysely
        .updateTable('evaluation_cases')
        .set({ sealed_entry: this.#seal.seal(JSON.stringify(entry), id), updated_at_ms: updatedAtMs })
        .where('id', '=', id)
        .executeTakeFirstOrThrow(),
    );
    return numUpdatedRows > 0n;
  }

  async delete(id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database.run((kysely) =>
      kysely.deleteFrom('evaluation_cases').where('id', '=', id).executeTakeFirstOrThrow(),
    );
    return numDeletedRows > 0n;
  }

  #toRow({ id, application, case: entry, createdAtMs, updatedAtMs }: StoredCase, version: number): CaseRow {
    const sealed_entry = this.#seal.seal(JSON.stringify(entry), id);
    return { id, application, version, sealed_entry, created_at_ms: createdAtMs, updated_at_ms: updatedAtMs };
  }

  #toCase({ id, application, sealed_entry, created_at_ms: createdAtMs, updated_at_ms: updatedAtMs }: CaseRow): StoredCase {
    return { id, application, case: openSealed<EvaluationCase>(this.#seal, sealed_entry, id), createdAtMs, updatedAtMs };
  }
}

async function taken(kysely: Kysely<Schema>, application: string): Promise<{ count: number; chars: number; last: number }> {
  const rows = await kysely
    .selectFrom('evaluation_cases')
    .select(({ fn }) => ['version', fn<number>('length', ['sealed_entry']).as('chars')])
    .where('application', '=', application)
    .execute();
  return {
    count: rows.length,
    chars: rows.reduce((sum, { chars }) => sum + chars, 0),
    last: Math.max(0, ...rows.map(({ version }) => version)),
  };
}

function charsOf(rows: readonly CaseRow[]): number {
  return rows.reduce((sum, { sealed_entry }) => sum + sealed_entry.length, 0);
}
