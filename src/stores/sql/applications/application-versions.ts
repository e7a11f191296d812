import type { Kysely } from 'kysely';
import type { ApplicationVersion } from '#domain/deployments/application-store.ts';
import type { Schema, SealedRow } from '../schema.ts';

/** Retention limits per application. The limit that is reached first applies. */
const maxFormerVersions = 50;
const maxChars = 4 * 1024 ** 2;
const highestVersion = 2 ** 31 - 1;

/** Stores the current application as a former version. Deletes the oldest versions if they exceed the retention limits. */
export async function storeVersion(transaction: Kysely<Schema>, id: string): Promise<void> {
  await transaction
    .insertInto('application_versions')
    .columns(['application', 'version', 'sealed_entry', 'etag', 'saved_at_ms'])
    .expression(
      transaction
        .selectFrom('applications')
        .select(['id', 'version', 'sealed_entry', 'etag', 'updated_at_ms'])
        .where('id', '=', id),
    )
    .execute();
  const versions = await transaction
    .selectFrom('application_versions')
    .select(({ fn }) => ['version', fn<number>('length', ['sealed_entry']).as('chars')])
    .where('application', '=', id)
    .orderBy('version', 'desc')
    .execute();
  const newestToDrop = findFirstOverLimit(versions)?.version;
  if (newestToDrop === undefined) return;
  await transaction
    .deleteFrom('application_versions')
    .where('application', '=', id)
    .where('version', '<=', newestToDrop)
    .execute();
}

/** Returns the newest version that falls outside the retention limits. `versions` must be sorted from newest to oldest. */
function findFirstOverLimit<Version extends { readonly chars: number }>(versions: readonly Version[]): Version | undefined {
  let chars = 0;
  return versions.find((version, index) => {
    chars += version.chars;
    return index >= maxFormerVersions || chars > maxChars;
  });
}

export async function listVersions(kysely: Kysely<Schema>, id: string): Promise<readonly ApplicationVersion[]> {
  const rows = await kysely
    .selectFrom('applications')
    .select(['version', 'etag', 'updated_at_ms as saved_at_ms'])
    .where('id', '=', id)
    .unionAll(kysely.selectFrom('application_versions').select(['version', 'etag', 'saved_at_ms']).where('application', '=', id))
    .orderBy('version', 'desc')
    .execute();
  return rows.map(({ version, etag, saved_at_ms: savedAtMs }) => ({ version, etag, savedAtMs }));
}

/** Returns the row of an application in one of its versions. */
export async function findVersionRow(kysely: Kysely<Schema>, id: string, version: number): Promise<SealedRow | undefined> {
  if (!Number.isInteger(version) || version < 1 || version > highestVersion) return undefined;
  return kysely
    .selectFrom('applications')
    .select(['id', 'owner', 'spelling', 'sealed_entry', 'etag', 'created_at_ms', 'updated_at_ms'])
    .where('id', '=', id)
    .where('version', '=', version)
    .unionAll(
      kysely
        .selectFrom('application_versions as former')
        .innerJoin('applications as now', 'now.id', 'former.application')
        .select(['now.id', 'now.owner', 'now.spelling', 'former.sealed_entry', 'former.etag'])
        .select(['now.created_at_ms', 'former.saved_at_ms as updated_at_ms'])
        .where('former.application', '=', id)
        .where('former.version', '=', version),
    )
    .executeTakeFirst();
}
