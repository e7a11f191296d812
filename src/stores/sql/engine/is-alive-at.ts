import { sql } from 'kysely';

/** Returns the name of the lease that a node holds while it is alive. */
export const nodeLease = (node: string): string => `responses of ${node}`;

/** Returns a condition for rows whose node is alive. It is false for rows with an empty owner. */
export const isAliveAt = (nowMs: number, owner: string) => sql<boolean>`exists (
  select 1 from leases where leases.name = 'responses of ' || ${sql.ref(owner)} and leases.until_ms > ${nowMs})`;
