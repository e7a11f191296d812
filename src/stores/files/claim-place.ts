import { text } from 'node:stream/consumers';
import type { BlobStore } from '#domain/files/blob-store.ts';

export interface Claim {
  /** The name of the database whose files' contents lie there. */
  readonly database: string;
  readonly nowMs: number;
}

/** No name of a content. */
const claimName = 'parley-database';

/**
 * Claims a place of contents for one database, unless another has it. Gives since when it is claimed, in milliseconds
 * since the epoch; undefined if it is another's. Throws StoreFault.
 */
export async function claimPlace(
  blobs: Pick<BlobStore, 'read' | 'write'>,
  { database, nowMs }: Claim,
): Promise<number | undefined> {
  const content = await blobs.read(claimName, undefined);
  if (content === undefined) {
    await blobs.write(claimName, [Buffer.from(`${database} ${nowMs}`)]);
    return nowMs;
  }
  const [owner, since] = (await text(content)).split(' ');
  return owner === database ? Number(since) : undefined;
}
