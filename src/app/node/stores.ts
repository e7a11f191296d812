import type { Caches } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import type { EntryStore } from '#domain/administration/entry-store.ts';
import type { NodeStore } from '#domain/administration/node-record.ts';
import type { BlockedUserStore } from '#domain/callers/blocked-users.ts';
import type { KeyStore } from '#domain/callers/key-store.ts';
import type { PeopleStore } from '#domain/callers/people-store.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import type { ShareStore } from '#domain/chats/chat-share.ts';
import type { ChatStore } from '#domain/chats/chat-store.ts';
import type { ConsentStore } from '#domain/consent/consent.ts';
import type { ApplicationStore } from '#domain/deployments/application-store.ts';
import type { EvaluationStore } from '#domain/evaluation/evaluation.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import type { AlertStore } from '#domain/limits/alert-store.ts';
import type { LimitStore } from '#domain/limits/limit-store.ts';
import type { NodeBroadcast } from '#domain/node-broadcast.ts';
import type { ConversationStore } from '#domain/responses/conversation-store.ts';
import type { ResponseStore, RunStore } from '#domain/responses/response-store.ts';
import type { ScimStore } from '#domain/scim/scim-store.ts';
import type { CallContentStore } from '#domain/usage/call-content.ts';
import type { Journal, RecordUpkeep } from '#domain/usage/journal.ts';
import type { PassageStore } from '../service/document-tools.ts';
import type { WorkerContext } from '../workers/worker-context.ts';

/** Owner of limit counters and leases in a database that no other node uses. */
export const thisNode = 'this node';

/** Stores that survive restarts: a database and files. */
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
  readonly entries: RuntimeEntryStores;
  /** Webhooks about limits. */
  readonly alerts: AlertStore;
  readonly journal: Journal & RecordUpkeep;
  readonly callContents: CallContentStore;
  /** Running nodes. Undefined if no other nodes use the database. */
  readonly nodes: NodeStore | undefined;
  readonly shared: readonly SharedStore[];
  /** Returns whether the node's own database accepts writes. Returns true if the database is shared. */
  readonly isWritable: () => boolean;
  /** Returns whether other nodes store the contents of files in a location that this node does not use. */
  readonly areFilesElsewhere: () => boolean;
}

/** Stores of responses and conversations. */
export interface ResponseStores {
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  /** Whether other nodes or workers use the stores too. */
  readonly isShared: boolean;
}

/** Stores of the keys that users create, and of other data about users. */
export interface KeyStores {
  readonly store: KeyStore;
  /** Users and groups that an identity provider provisions. If undefined, their paths are not served. */
  readonly scim?: ScimStore;
  /** People who have signed in. If undefined, applications can be shared only with users of configured keys. */
  readonly people?: PeopleStore;
  /** Users that administrators blocked. */
  readonly blockedUsers: BlockedUserStore;
  /** Whether other nodes or workers write to the stores too. */
  readonly isShared: boolean;
}

/** Store of entries that administrators create at run time. */
interface RuntimeEntryStores {
  readonly store: EntryStore;
  /** Whether other nodes or workers write to the store too. */
  readonly isShared: boolean;
}

/** Stores of cases and evaluations. */
export interface EvaluationStores {
  readonly store: EvaluationStore;
  readonly leases: Pick<RunStore, 'renewLease' | 'releaseLease'>;
  /** Whether other nodes or workers use the stores too. */
  readonly isShared: boolean;
}

/** Stores for data that lives as long as a call or a limit window, in memory or in Redis. */
export interface EphemeralStores {
  readonly perRequestKeys: PerRequestKeys;
  readonly limits: LimitStore;
  /** Undefined if there are no other nodes or workers. */
  readonly broadcast: NodeBroadcast | undefined;
  readonly shared: readonly SharedStore[];
}

/** Connection state of a store on another machine. */
export interface SharedStore {
  readonly name: 'database' | 'redis';
  readonly isUnavailable: () => boolean;
  /** Returns whether the store was reachable at least once since this node started. */
  readonly wasReached: () => boolean;
}

/** Dependencies of the stores of a node. */
export interface StoreDeps {
  /** Undefined if this process is not one of several workers. */
  readonly worker?: WorkerContext | undefined;
  readonly clock: Clock;
  readonly caches: Caches;
  /** Logs an informational message. */
  readonly note: (message: string) => void;
  readonly reportError: (message: string, error: unknown) => void;
}

/** Stores that must be closed. */
export type Closeable<Kind> = Kind & { readonly close: () => Promise<void> };
