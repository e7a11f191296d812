import { isJsonObject, parseJson } from '#base/json/json.ts';
import type { NodeRecord, NodeStore } from '#domain/administration/node-record.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { type ReportInvalidEntry, readEntry, withoutInvalid } from '../engine/stored-values.ts';

/** Running nodes in a table with one row each. */
export class SqlNodeStore implements NodeStore {
  readonly #database: SqlDatabase;
  readonly #reportInvalid: ReportInvalidEntry;

  constructor(database: SqlDatabase, reportInvalid: ReportInvalidEntry = () => undefined) {
    this.#database = database;
    this.#reportInvalid = reportInvalid;
  }

  async put({ node, untilMs, filesDigest, report }: NodeRecord, nowMs: number): Promise<void> {
    const fields = { until_ms: this.#database.toStoreMs(untilMs), files_digest: filesDigest, report: JSON.stringify(report) };
    await this.#database.run(async (kysely) => {
      await kysely
        .insertInto('nodes')
        .values({ node, ...fields })
        .onConflict((conflict) => conflict.column('node').doUpdateSet(fields))
        .execute();
      await kysely.deleteFrom('nodes').where('until_ms', '<', this.#database.toStoreMs(nowMs)).execute();
    });
  }

  async delete(node: string): Promise<void> {
    await this.#database.run((kysely) => kysely.deleteFrom('nodes').where('node', '=', node).execute());
  }

  async list(nowMs: number): Promise<readonly NodeRecord[]> {
    const rows = await this.#database.run((kysely) =>
      kysely.selectFrom('nodes').selectAll().where('until_ms', '>=', this.#database.toStoreMs(nowMs)).orderBy('node').execute(),
    );
    return withoutInvalid(
      rows.map(({ node, until_ms: untilMs, files_digest: filesDigest, report: text }) =>
        readEntry({ kind: 'node', id: node, reportInvalid: this.#reportInvalid }, () => {
          const report = parseJson(text);
          if (!isJsonObject(report)) throw new Error('the stored report is not an object');
          return { node, untilMs: this.#database.toNodeMs(untilMs), filesDigest, report };
        }),
      ),
    );
  }
}
