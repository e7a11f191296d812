import { isStorableKey } from '#base/text/storable-key.ts';
import { ConsentBody, type ConsentForm } from '#contract/consent.ts';
import { requireShape } from '#contract/errors/request-error.ts';
import { compileShape } from '#contract/schemas/compile-shape.ts';
import type { ConsentStore, StoredConsent } from '#domain/consent/consent.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import {
  parseRecord,
  type ReportInvalidEntry,
  readEntry,
  requireStorable,
  stringifyRecord,
  withoutInvalid,
} from '../engine/stored-values.ts';
import type { ConsentRow } from '../schema.ts';

const formCheck = compileShape(ConsentBody.properties.consent);

/** Consents in a table with one row per consent. */
export class SqlConsentStore implements ConsentStore {
  readonly #database: SqlDatabase;
  readonly #reportInvalid: ReportInvalidEntry;

  constructor(database: SqlDatabase, reportInvalid: ReportInvalidEntry = () => undefined) {
    this.#database = database;
    this.#reportInvalid = reportInvalid;
  }

  async find(subject: string, deployment: string): Promise<StoredConsent | undefined> {
    if (!isStorableKey(subject) || !isStorableKey(deployment)) return undefined;
    const row = await this.#database.run((kysely) =>
      kysely
        .selectFrom('consents')
        .selectAll()
        .where('subject', '=', subject)
        .where('deployment', '=', deployment)
        .executeTakeFirst(),
    );
    return row && this.#toConsent(row);
  }

  async put(subject: string, { deployment, form, acceptedAtMs }: StoredConsent): Promise<void> {
    requireStorable(subject, deployment);
    const values = { form: stringifyRecord(form), accepted_at_ms: acceptedAtMs };
    await this.#database.run((kysely) =>
      kysely
        .insertInto('consents')
        .values({ subject, deployment, ...values })
        .onConflict((conflict) => conflict.columns(['subject', 'deployment']).doUpdateSet(values))
        .execute(),
    );
  }

  async delete(subject: string, deployment: string): Promise<void> {
    if (!isStorableKey(subject) || !isStorableKey(deployment)) return;
    await this.#database.run((kysely) =>
      kysely.deleteFrom('consents').where('subject', '=', subject).where('deployment', '=', deployment).execute(),
    );
  }

  async list(subject: string): Promise<readonly StoredConsent[]> {
    if (!isStorableKey(subject)) return [];
    const rows = await this.#database.run((kysely) =>
      kysely.selectFrom('consents').selectAll().where('subject', '=', subject).orderBy('deployment').execute(),
    );
    return withoutInvalid(rows.map((row) => this.#toConsent(row)));
  }

  #toConsent({ deployment, form, accepted_at_ms }: ConsentRow): StoredConsent | undefined {
    return readEntry({ kind: 'consent', id: deployment, reportInvalid: this.#reportInvalid }, () => ({
      deployment,
      form: requireShape<ConsentForm>(formCheck, parseRecord(form)),
      acceptedAtMs: accepted_at_ms,
    }));
  }
}
