import { sql } from 'kysely';

/** Name of the lease that says that a node lives. */
export const nodeLease = (node: string): string => `responses of ${node}`;

/** Whether the node of a row lives; nobody has one whose owner is empty. */
export const isAliveAt = (nowMs: number, owner: string) => sql<boolean>`exists (
  select 1 from leases where leases.name = 'responses of ' || ${sql.ref(owner)} and leases.until_ms > ${nowMs})`;
