import { text } from 'node:stream/consumers';
import type { BlobStore } from '#domain/files/blob-store.ts';

export interface LocationClaim {
  /** The name of the database whose file contents are stored in this location. */
  readonly database: string;
  readonly nowMs: number;
}

/** Name of the blob that records which database owns the location. No file content has this name. */
export const claimName = 'parley-database';

/** Returns the claim of a database. `atMs` is in milliseconds since the epoch. */
export function toClaim(database: string, atMs: number): string {
  return `${database} ${atMs}`;
}

/**
 * Claims a location for the contents of one database, unless another database owns it. Returns the time of the claim in
 * milliseconds since the epoch, or undefined if another database owns the location. Throws `StoreError`.
 */
export async function claimLocation(
  blobs: Pick<BlobStore, 'read' | 'write'>,
  { database, nowMs }: LocationClaim,
): Promise<number | undefined> {
  const content = await blobs.read(claimName, undefined);
  if (content === undefined) {
    await blobs.write(claimName, [Buffer.from(toClaim(database, nowMs))]);
    return nowMs;
  }
  const [owner, since] = (await text(content)).split(' ');
  return owner === database ? Number(since) : undefined;
}
