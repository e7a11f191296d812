import { sql } from 'kysely';

const prefix = 'responses of ';

/** Returns the name of the lease that a node holds while it is alive. */
export const toLeaseName = (node: string): string => `${prefix}${node}`;

/**
 * Returns a condition for rows whose node, in the column `owner`, is alive at a time by the clock of the database. It is false for
 * rows with an empty owner.
 */
export const isAliveAt = (nowMs: number, owner: string) => sql<boolean>`exists (
  select 1 from leases where leases.name = ${sql.lit(prefix)} || ${sql.ref(owner)} and leases.until_ms > ${nowMs})`;
