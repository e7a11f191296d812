import type { Clock } from '#base/clock.ts';
import type { ApplicationStore } from '#domain/application-store.ts';
import type { BlobStore } from '#domain/blob-store.ts';
import type { Bulletin } from '#domain/bulletin.ts';
import type { ConsentStore } from '#domain/consent-store.ts';
import type { FileIndex } from '#domain/file-index.ts';
import type { Journal } from '#domain/journal.ts';
import type { LimitStore } from '#domain/limit-store.ts';
import type { PerRequestKeys } from '#domain/per-request-keys.ts';
import type { PassageStore } from './document-tools.ts';

/** What survives everything: in a database and in files. */
export interface DurableStores {
  readonly consents: ConsentStore;
  readonly applications: ApplicationStore;
  readonly files: { readonly index: FileIndex; readonly blobs: BlobStore };
  readonly passages: PassageStore;
  readonly journal: Journal;
  readonly shared: readonly SharedStore[];
  /** Whether the database of this node, if it has its own, can be written. */
  readonly takesWrites: () => boolean;
}

/** What lives as long as a call or a window: in this process, or in Redis. */
export interface PassingStores {
  readonly perRequestKeys: PerRequestKeys;
  readonly limits: LimitStore;
  /** Undefined where there are no other nodes. */
  readonly bulletin: Bulletin | undefined;
  readonly shared: readonly SharedStore[];
}

/** A store on another machine, as this node sees it. */
export interface SharedStore {
  readonly name: 'database' | 'redis';
  readonly isAway: () => boolean;
  /** Whether it was there since this node started. */
  readonly wasReached: () => boolean;
}

export interface StoreTools {
  readonly clock: Clock;
  /** Makes per-request keys. */
  readonly newKey: () => string;
  readonly note: (message: string) => void;
  readonly noteFault: (message: string, thrown: unknown) => void;
}

export type Opened<Kind> = Kind & { readonly close: () => Promise<void> };
