import { text } from 'node:stream/consumers';
import type { BlobStore } from '#domain/files/blob-store.ts';

export interface LocationClaim {
  /** The name of the database whose files' contents lie there. */
  readonly database: string;
  readonly nowMs: number;
}

/** What is written under this name, which no content has, says whose contents lie there. */
export const claimName = 'parley-database';

/** The claim of a database, made at a moment in milliseconds since the epoch. */
export function toClaim(database: string, atMs: number): string {
  return `${database} ${atMs}`;
}

/**
 * Claims a place of contents for one database, unless another has it. Gives since when it is claimed, in milliseconds
 * since the epoch; undefined if it is another's. Throws StoreFault.
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
