import type { Caches } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import type { BlockedUserStore } from '#domain/callers/blocked-users.ts';
import type { KeyStore } from '#domain/callers/key-store.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import type { ShareStore } from '#domain/chats/chat-share.ts';
import type { ChatStore } from '#domain/chats/chat-store.ts';
import type { ConsentStore } from '#domain/consent/consent.ts';
import type { ApplicationStore } from '#domain/deployments/application-store.ts';
import type { EvaluationStore } from '#domain/evaluation/evaluation-store.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import type { LimitStore } from '#domain/limits/limit-store.ts';
import type { NodeBroadcast } from '#domain/node-broadcast.ts';
import type { ConversationStore } from '#domain/responses/conversation-store.ts';
import type { ResponseStore, RunStore } from '#domain/responses/response-store.ts';
import type { Journal } from '#domain/usage/journal.ts';
import type { PassageStore } from '../service/document-tools.ts';

/** What survives everything: in a database and in files. */
export interface DurableStores {
  readonly consents: ConsentStore;
  readonly applications: ApplicationStore;
  readonly files: { readonly index: FileIndex; readonly blobs: BlobStore };
  readonly passages: PassageStore;
  readonly responses: ResponseStores;
  readonly evaluations: EvaluationStores;
  readonly chats: ChatStore;
  readonly shares: ShareStore;
  readonly keys: KeyStores;
  readonly journal: Journal;
  readonly shared: readonly SharedStore[];
  /** Whether the database of this node, if it has its own, can be written. */
  readonly isWritable: () => boolean;
  /** Whether the contents of files lie where other nodes have them, and this one has not. */
  readonly areFilesElsewhere: () => boolean;
}

/** Where responses are kept. */
export interface ResponseStores {
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  /** Whether other nodes work on them too. */
  readonly isShared: boolean;
}

/** Where keys are kept that users make. */
export interface KeyStores {
  readonly store: KeyStore;
  /** The users that administrators blocked. */
  readonly blockedUsers: BlockedUserStore;
  /** Whether other nodes write there too. */
  readonly isShared: boolean;
}

/** Where cases and evaluations are kept. */
export interface EvaluationStores {
  readonly store: EvaluationStore;
  readonly leases: Pick<RunStore, 'renewLease' | 'releaseLease'>;
  /** Whether other nodes work on them too. */
  readonly isShared: boolean;
}

/** What lives as long as a call or a window: in this process, or in Redis. */
export interface PassingStores {
  readonly perRequestKeys: PerRequestKeys;
  readonly limits: LimitStore;
  /** Undefined where there are no other nodes. */
  readonly broadcast: NodeBroadcast | undefined;
  readonly shared: readonly SharedStore[];
}

/** A store on another machine, as this node sees it. */
export interface SharedStore {
  readonly name: 'database' | 'redis';
  readonly isAway: () => boolean;
  /** Whether it was there since this node started. */
  readonly wasReached: () => boolean;
}

export interface StoreDeps {
  readonly clock: Clock;
  readonly caches: Caches;
  /** Makes per-request keys. */
  readonly newKey: () => string;
  readonly note: (message: string) => void;
  readonly reportError: (message: string, error: unknown) => void;
}

export type Opened<Kind> = Kind & { readonly close: () => Promise<void> };
