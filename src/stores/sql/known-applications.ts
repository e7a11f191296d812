import type { BoundedCacheOptions } from '#base/bounded-cache.ts';
import type { StoredApplication } from '#domain/deployments/application-store.ts';

/** An application that was opened before: as long as its ETag is the same it need not be decrypted and parsed again. */
export interface KnownApplication {
  readonly application: StoredApplication;
  /** How long its sealed text is. */
  readonly chars: number;
}

/** Of an entry and the deployment that is made of it, for each character of the sealed text. */
const bytesPerChar = 3;

/** The cache that opened applications lie in, by id. */
export const knownApplicationBounds: BoundedCacheOptions<KnownApplication> = {
  maxBytes: 48 * 1024 ** 2,
  bytesOf: ({ chars }) => bytesPerChar * chars,
};
