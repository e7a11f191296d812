import type { Kysely } from 'kysely';
import type { Seal } from '#base/secrets/seal.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { caseBounds } from '#contract/evaluation/evaluation-case.ts';
import { parseStoredCase } from '#contract/evaluation/parse-cases.ts';
import type {
  CaseResult,
  CaseStore,
  Evaluation,
  EvaluationBounds,
  EvaluationEnd,
  EvaluationStatus,
  EvaluationStore,
  StoredCase,
} from '#domain/evaluation/evaluation.ts';
import { lockRow } from '../applications/application-rows.ts';
import { isAliveAt } from '../engine/is-alive-at.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSealed, type ReportInvalidEntry, readEntry, withoutInvalid } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';
import type { CaseRow, EvaluationRow } from './evaluation-tables.ts';

const resultsPerQuery = 50;
export const toResultContext = (id: string, nth: number): string => `result ${nth} of ${id}`;

/** Evaluations of applications, with one row per evaluation and one sealed row per result. */
export class SqlEvaluationStore implements EvaluationStore {
  readonly cases: SqlCaseStore;
  readonly #database: SqlDatabase;
  readonly #seal: Seal;

  constructor(database: SqlDatabase, seal: Seal, reportInvalid: ReportInvalidEntry = () => undefined) {
    this.cases = new SqlCaseStore(database, seal, reportInvalid);
    this.#database = database;
    this.#seal = seal;
  }

  begin(evaluation: Evaluation, node: string, bounds: EvaluationBounds): Promise<'begun' | 'absent' | 'busy'> {
    return this.#database.transact(async (transaction) => {
      if ((await lockRow(transaction, evaluation.application)) === undefined) return 'absent';
      const stored = await transaction
        .selectFrom('evaluations')
        .select(['id', 'application', 'owner', 'bytes'])
        .where('subject', '=', evaluation.subject)
        .orderBy('started_at_ms', 'desc')
        .execute();
      if (stored.filter(({ owner }) => owner !== null).length >= bounds.maxInProgress) return 'busy';
      const toDrop = selectOverBudget(stored, evaluation.application, bounds);
      if (toDrop.length > 0) await transaction.deleteFrom('evaluations').where('id', 'in', toDrop).execute();
      await transaction.insertInto('evaluations').values(toRow(evaluation, node)).execute();
      return 'begun';
    });
  }

  addResult(id: string, node: string, result: CaseResult): Promise<boolean> {
    const sealed_entry = this.#seal.seal(JSON.stringify(result), toResultContext(id, result.nth));
    const { outcome } = result;
    const countIf = (status: CaseResult['outcome']) => (outcome === status ? 1 : 0);
    return this.#database.transact(async (transaction) => {
      const counted = await transaction
        .updateTable('evaluations')
        .set(({ eb }) => ({
          passed: eb('passed', '+', countIf('passed')),
          failed: eb('failed', '+', countIf('failed')),
          errors: eb('errors', '+', countIf('error')),
          bytes: eb('bytes', '+', sealed_entry.length),
        }))
        .where('id', '=', id)
        .where('owner', '=', node)
        .returning('id')
        .executeTakeFirst();
      if (counted === undefined) return false;
      await transaction.insertInto('evaluation_results').values({ evaluation: id, nth: result.nth, sealed_entry }).execute();
      return true;
    });
  }

  end(id: string, node: string, end: EvaluationEnd): Promise<boolean> {
    return this.#end(id, node, end);
  }

  cancel(id: string, endedAtMs: number): Promise<boolean> {
    const noOutcome = { error: undefined, costUsd: undefined, digest: undefined };
    return this.#end(id, undefined, { status: 'cancelled', endedAtMs, ...noOutcome });
  }

  async find(id: string): Promise<Evaluation | undefined> {
    const row = await this.#database.run((kysely) =>
      kysely.selectFrom('evaluations').selectAll().where('id', '=', id).executeTakeFirst(),
    );
    return row && fromRow(row);
  }

  async list(application: string): Promise<readonly Evaluation[]> {
    const rows = await this.#database.run((kysely) =>
      kysely
        .selectFrom('evaluations')
        .selectAll()
        .where('application', '=', application)
        .orderBy('started_at_ms', 'desc')
        .orderBy('id')
        .execute(),
    );
    return rows.map(fromRow);
  }

  /** Reads the results in pages, because together they may be large. */
  async listResults(id: string): Promise<readonly CaseResult[]> {
    const results: CaseResult[] = [];
    for (let after = -1; ; ) {
      const rows = await this.#database.run((kysely) =>
        kysely
          .selectFrom('evaluation_results')
          .select(['nth', 'sealed_entry'])
          .where('evaluation', '=', id)
          .where('nth', '>', after)
          .orderBy('nth')
          .limit(resultsPerQuery)
          .execute(),
      );
      for (const { nth, sealed_entry } of rows) results.push(openSealed(this.#seal, sealed_entry, toResultContext(id, nth)));
      const last = rows.at(-1);
      if (last === undefined || rows.length < resultsPerQuery) return results;
      after = last.nth;
    }
  }

  async listRunning(node: string): Promise<ReadonlySet<string>> {
    const rows = await this.#database.run((kysely) =>
      kysely.selectFrom('evaluations').select('id').where('owner', '=', node).execute(),
    );
    return new Set(rows.map(({ id }) => id));
  }

  async failOrphaned(nowMs: number, error: string): Promise<number> {
    const { numUpdatedRows } = await this.#database.run((kysely) =>
      kysely
        .updateTable('evaluations')
        .set({ status: 'failed', owner: null, ended_at_ms: nowMs, error })
        .where('owner', 'is not', null)
        .where(({ not }) => not(isAliveAt(this.#database.toStoreMs(nowMs), 'evaluations.owner')))
        .executeTakeFirstOrThrow(),
    );
    return Number(numUpdatedRows);
  }

  /** Ends an evaluation that is in progress on `node`, or on any node if `node` is undefined. Returns whether it was in progress. */
  async #end(
    id: string,
    node: string | undefined,
    { status, endedAtMs, error, costUsd, digest }: EvaluationEnd,
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.run((kysely) =>
      kysely
        .updateTable('evaluations')
        .set({ status, owner: null, ended_at_ms: endedAtMs })
        .set({ error: error ?? null, cost_usd: costUsd ?? null, digest: digest ?? null })
        .where('id', '=', id)
        .where(({ eb }) => (node === undefined ? eb('owner', 'is not', null) : eb('owner', '=', node)))
        .executeTakeFirstOrThrow(),
    );
    return numUpdatedRows > 0n;
  }
}

type StoredRow = Pick<EvaluationRow, 'id' | 'application' | 'owner' | 'bytes'>;

/**
 * Returns the IDs of the finished evaluations to delete before an evaluation of this application is added. They exceed `maxBytes`
 * of the user, or `maxStored` of the application. `rows` are the evaluations of the user, newest first.
 */
function selectOverBudget(
  rows: readonly StoredRow[],
  application: string,
  { maxStored, maxBytes }: EvaluationBounds,
): readonly string[] {
  let count = 1;
  let bytes = 0;
  return rows
    .filter((row) => {
      bytes += row.bytes;
      if (row.application === application) count += 1;
      return row.owner === null && (bytes > maxBytes || (row.application === application && count > maxStored));
    })
    .map(({ id }) => id);
}

function toRow(evaluation: Evaluation, owner: string): EvaluationRow {
  const { id, application, version, subject, status, total, tally, startedAtMs } = evaluation;
  const noEnd = { ended_at_ms: null, error: null, cost_usd: null, digest: null };
  return { id, application, version, subject, status, owner, total, ...tally, bytes: 0, started_at_ms: startedAtMs, ...noEnd };
}

function fromRow(row: EvaluationRow): Evaluation {
  const { id, application, version, subject, total, passed, failed, errors } = row;
  return {
    ...{ id, application, version, subject, total },
    status: row.status as EvaluationStatus,
    tally: { passed, failed, errors },
    startedAtMs: row.started_at_ms,
    endedAtMs: row.ended_at_ms ?? undefined,
    error: row.error ?? undefined,
    costUsd: row.cost_usd ?? undefined,
    digest: row.digest ?? undefined,
  };
}

const rowsPerStatement = 50;
/** Maximum ratio of the sealed to the original length, because sealed text has a prefix and is base64. */
const sealedFactor = 1.5;

/** Cases of applications in a table with one row each. Their content is sealed. */
class SqlCaseStore implements CaseStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  readonly #reportInvalid: ReportInvalidEntry;

  constructor(database: SqlDatabase, seal: Seal, reportInvalid: ReportInvalidEntry) {
    this.#database = database;
    this.#seal = seal;
    this.#reportInvalid = reportInvalid;
  }

  async list(application: string): Promise<readonly StoredCase[]> {
    const rows = await this.#database.run((kysely) =>
      kysely.selectFrom('evaluation_cases').selectAll().where('application', '=', application).orderBy('version').execute(),
    );
    return withoutInvalid(rows.map((row) => this.#toCase(row)));
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
      // Holds the row lock, so that concurrent additions to the application wait.
      if ((await lockRow(transaction, first.application)) === undefined) return 'absent';
      const { count, chars, lastVersion } = await readCaseTotals(transaction, first.application);
      const rows = cases.map((stored, index) => this.#toRow(stored, lastVersion + index + 1));
      const charsAfter = rows.reduce((sum, { sealed_entry }) => sum + sealed_entry.length, chars);
      if (count + rows.length > caseBounds.maxCases || charsAfter > caseBounds.maxTotalChars * sealedFactor) return 'full';
      for (const batch of splitIntoBatches(rows, rowsPerStatement))
        await transaction.insertInto('evaluation_cases').values(batch).execute();
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

  #toCase({ id, application, sealed_entry, created_at_ms: createdAtMs, updated_at_ms: updatedAtMs }: CaseRow) {
    return readEntry({ kind: 'evaluation case', id, reportInvalid: this.#reportInvalid }, (): StoredCase => {
      const entry = parseStoredCase(openSealed<unknown>(this.#seal, sealed_entry, id));
      return { id, application, case: entry, createdAtMs, updatedAtMs };
    });
  }
}

async function readCaseTotals(
  kysely: Kysely<Schema>,
  application: string,
): Promise<{ count: number; chars: number; lastVersion: number }> {
  const rows = await kysely
    .selectFrom('evaluation_cases')
    .select(({ fn }) => ['version', fn<number>('length', ['sealed_entry']).as('chars')])
    .where('application', '=', application)
    .execute();
  return {
    count: rows.length,
    chars: rows.reduce((sum, { chars }) => sum + chars, 0),
    lastVersion: Math.max(0, ...rows.map(({ version }) => version)),
  };
}
