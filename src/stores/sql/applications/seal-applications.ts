import { sql } from 'kysely';
import type { Seal } from '#base/secrets/seal.ts';
import { StoreFault } from '#domain/store-fault.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';

/** Where the settings of applications and their cases lie, and what the ids that they are sealed for are called there. */
const places = [
  { table: sql.table('applications'), id: sql.ref('id') },
  { table: sql.table('application_versions'), id: sql.ref('application') },
  { table: sql.table('evaluation_cases'), id: sql.ref('id') },
];
type Place = (typeof places)[number];

interface Row {
  readonly id: string;
  readonly version: number;
  readonly sealed_entry: string;
}

interface Sealing {
  readonly database: SqlDatabase;
  readonly seal: Seal;
}

/** Enough of a sealed text to see which secret it was sealed with. */
const headChars = 32;

/** The settings of an application as they were written. Throws StoreFault. */
export function openEntry(seal: Seal, sealed: string, id: string): string {
  try {
    return seal.open(sealed, id);
  } catch (cause) {
    throw new StoreFault('the settings of an application cannot be decrypted', { cause });
  }
}

/**
 * Seals with the newest secret what an older one sealed, versions too. Gives how many applications there were; throws StoreFault
 * if some could not be opened, once the others are done.
 */
export async function sealApplicationsAnew(sealing: Sealing): Promise<number> {
  const ids = new Set<string>();
  const faults: unknown[] = [];
  for (const place of places) {
    const heads = await readHeads(sealing, place);
    for (const head of heads.filter(({ sealed_entry }) => sealing.seal.isOutdated(sealed_entry))) {
      ids.add(head.id);
      await sealRowAnew(sealing, place, head).catch((thrown) => faults.push(thrown));
    }
  }
  if (faults.length > 0) throw faults[0];
  return ids.size;
}

async function readHeads({ database }: Sealing, { table, id }: Place): Promise<readonly Row[]> {
  const head = sql`substr(sealed_entry, 1, ${sql.lit(headChars)})`;
  const all = sql<Row>`select ${id} as id, version, ${head} as sealed_entry from ${table}`;
  return (await database.run((kysely) => all.execute(kysely))).rows;
}

/** Where it was changed meanwhile it was sealed with the newest secret. */
async function sealRowAnew({ database, seal }: Sealing, { table, id: column }: Place, { id, version }: Row): Promise<void> {
  const isIt = sql`${column} = ${id} and version = ${version}`;
  const whole = sql<Row>`select sealed_entry from ${table} where ${isIt}`;
  const { rows } = await database.run((kysely) => whole.execute(kysely));
  for (const { sealed_entry } of rows) {
    const anew = seal.seal(openEntry(seal, sealed_entry, id), id);
    const replace = sql`update ${table} set sealed_entry = ${anew} where ${isIt} and sealed_entry = ${sealed_entry}`;
    await database.run((kysely) => replace.execute(kysely));
  }
}
