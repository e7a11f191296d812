import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { BlobStore, ByteRange, ContentsLocation } from '#domain/files/blob-store.ts';
import { StoreError } from '#domain/store-error.ts';

export interface LocatedBlobStoreDeps {
  /** The location that is recorded in the database. */
  readonly location: ContentsLocation;
  readonly epochMs: () => number;
  /** Called once if the contents are stored elsewhere, with the recorded or expected name of their location. */
  readonly onElsewhere: (name: string) => void;
}

/**
 * A blob store for a database that other nodes share. Every operation throws `StoreError` if the contents of the database are
 * stored elsewhere, because other nodes would not find the contents that this node writes here. The first write claims this
 * location if the database has none.
 */
export class LocatedBlobStore implements BlobStore {
  readonly #store: BlobStore;
  readonly #deps: LocatedBlobStoreDeps;
  #isHere = false;
  #isElsewhere = false;
  #wasReported = false;

  constructor(store: BlobStore, deps: LocatedBlobStoreDeps) {
    this.#store = store;
    this.#deps = deps;
  }

  /** Whether the last check found that the contents are stored elsewhere. */
  get isElsewhere(): boolean {
    return this.#isElsewhere;
  }

  async write(name: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    if (!this.#isHere) await this.#requireHere({ claims: true });
    return this.#store.write(name, bytes);
  }

  async read(name: string, range: ByteRange | undefined): Promise<Readable | undefined> {
    if (!this.#isHere) await this.#requireHere({ claims: false });
    return this.#store.read(name, range);
  }

  async delete(name: string): Promise<void> {
    if (!this.#isHere) await this.#requireHere({ claims: false });
    return this.#store.delete(name);
  }

  /**
   * Determines where the contents of the database are stored. If the database has no recorded location, this location is recorded
   * if it already has a claim, or contents of the database. With `claims`, it is also recorded if the database has no contents
   * yet. Throws `StoreError`.
   */
  async locate({ claims }: { claims: boolean }): Promise<'here' | 'nowhere' | 'elsewhere'> {
    if (this.#isHere) return 'here';
    let unconfirmed: string | undefined;
    const name = await this.#deps.location.resolveName(async ({ database, blobs }) => {
      const existing = await this.#readClaim();
      if (existing !== undefined) return existing;
      const claim = toClaim(database, this.#deps.epochMs());
      if (blobs.length > 0 && !(await this.#hasAny(blobs))) unconfirmed = claim;
      if (unconfirmed !== undefined || (blobs.length === 0 && !claims)) return undefined;
      await this.#store.write(claimName, [Buffer.from(claim)]);
      return claim;
    });
    const expected = name ?? unconfirmed;
    if (expected === undefined) return 'nowhere';
    this.#isHere = (await this.#readClaim()) === expected;
    this.#isElsewhere = !this.#isHere;
    if (this.#isElsewhere && !this.#wasReported) {
      this.#wasReported = true;
      this.#deps.onElsewhere(expected);
    }
    return this.#isHere ? 'here' : 'elsewhere';
  }

  async #requireHere(options: { claims: boolean }): Promise<void> {
    if ((await this.locate(options)) === 'elsewhere') throw new StoreError(elsewhereMessage);
  }

  /** Returns the claim that is stored in this location, if any. */
  async #readClaim(): Promise<string | undefined> {
    const content = await this.#store.read(claimName, undefined);
    return content && (await text(content)).trim();
  }

  async #hasAny(blobs: readonly string[]): Promise<boolean> {
    for (const blob of blobs) {
      const content = await this.#store.read(blob, undefined);
      content?.destroy();
      if (content !== undefined) return true;
    }
    return false;
  }
}

const elsewhereMessage = 'the file contents are in a location that this node cannot reach, see /health';

/** Name of the blob that records which database owns the location. No file content has this name. */
export const claimName = 'parley-database';

/** Returns the content of the blob that claims a location for a database. `atMs` is in milliseconds since the epoch. */
function toClaim(database: string, atMs: number): string {
  return `${database} ${atMs}`;
}

/**
 * Claims a location for the file contents of one database, unless another database owns it. Returns the time of the claim in
 * milliseconds since the epoch, or undefined if another database owns the location. Throws `StoreError`.
 */
export async function claimLocation(
  blobs: Pick<BlobStore, 'read' | 'write'>,
  { database, nowMs }: { readonly database: string; readonly nowMs: number },
): Promise<number | undefined> {
  const content = await blobs.read(claimName, undefined);
  if (content === undefined) {
    await blobs.write(claimName, [Buffer.from(toClaim(database, nowMs))]);
    return nowMs;
  }
  const [owner, since] = (await text(content)).split(' ');
  return owner === database ? Number(since) : undefined;
}
