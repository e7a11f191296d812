import type { FastifyInstance } from 'fastify';
import type { Caches } from '#base/cache/bounded-cache.ts';
import type { HttpClient } from '#base/http/client.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Telemetry } from '#domain/calls/telemetry.ts';
import type { ShareStore } from '#domain/chats/chat-share.ts';
import type { ChatStore } from '#domain/chats/chat-store.ts';
import type { DependencyGraph } from '#domain/consent/dependency-graph.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { NodeBroadcast } from '#domain/node-broadcast.ts';
import type { OnUnusablePart } from '#domain/quick-app/quick-app.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import type { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';
import type { RecordAudit } from '#domain/usage/journal.ts';
import type { OnRemovedReferences } from '#pipeline/reply-files.ts';
import type { AlertDeliveriesDeps } from '#services/alerts/alert-deliveries.ts';
import type { defaultFileLimits, StoredResourcesDeps } from '#services/files/stored-resources.ts';
import type { ChangeDeps } from '#surfaces/admin/entries/change-routes.ts';
import type { KeyDeps } from '#surfaces/admin/entries/key-routes.ts';
import type { AdminDeps } from '#surfaces/admin/routes.ts';
import type { Stores } from '../node/open-stores.ts';
import type { EvaluationStores, KeyStores, ResponseStores } from '../node/stores.ts';
import type { PassageStore } from './document-tools.ts';

/** Dependencies of a service. */
export interface ServiceDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly http: HttpClient;
  readonly embedder: Embedder;
  readonly clock: Clock;
  /** Registry of caches, for their metrics. If undefined, the service creates one. */
  readonly caches?: Caches;
  readonly telemetry: Telemetry;
  /** Pause between the frames of the demo model in milliseconds. The default is 15. */
  readonly demoPaceMs?: number;
  /** Maximum bytes of the large inputs of one user. The default depends on the memory. */
  readonly maxUserInputBytes?: number;
  /** Load balancer that other parts of the node share. If undefined, the service creates one. */
  readonly loadBalancer?: LoadBalancer;
  readonly stores: Pick<Stores, 'consents' | 'applications' | 'limits' | 'perRequestKeys' | 'seal'>;
  /** Stores and limits of files. If undefined, files are not stored and their paths are not served. */
  readonly files?: Pick<StoredResourcesDeps, 'index' | 'blobs'> & Partial<typeof defaultFileLimits>;
  /** Index of passages in files. If undefined, quick apps cannot search documents. */
  readonly passages?: PassageStore;
  /** Stores of responses. If undefined, responses are not stored and their paths are not served. */
  readonly responses?: ResponseStores;
  /** Maximum duration of a background response. The default is 6 hours. */
  readonly maxBackgroundRunMs?: number;
  /** Notifies other nodes immediately. If undefined, other nodes find changes only when they read the stores. */
  readonly broadcast?: NodeBroadcast | undefined;
  /** Stores of cases and evaluations. If undefined, their paths are not served. */
  readonly evaluations?: EvaluationStores;
  /** Store of the page's chats. If undefined, chats are not stored and their paths are not served. */
  readonly chats?: ChatStore;
  /** Store of shared chats. If undefined, chats cannot be shared. */
  readonly shares?: ShareStore;
  /** Webhooks about limits. If undefined, Parley sends none and their path is not served. */
  readonly alerts?: Pick<AlertDeliveriesDeps, 'store' | 'onUndelivered'>;
  /** Stores of keys that users create. If undefined, users cannot create keys and the paths are not served. */
  readonly keys?: KeyStores;
  /** Configuration that administrators change at run time. If undefined, the paths are not served. */
  readonly entries?: Pick<ChangeDeps & KeyDeps, 'entries' | 'store' | 'firstStart'>;
  /** Called with each dependency graph that is traversed, including its dangling dependencies. */
  readonly onDependencyGraph?: (graph: DependencyGraph) => void;
  /** Called after each lookup with the documents that an application names but that are not stored. */
  readonly onMissingDocuments?: (application: string, references: readonly string[]) => void;
  /** Called with the state of a part that a quick app names, whether it is usable or not. */
  readonly onUnusablePart?: OnUnusablePart;
  /** Called with the number of file references that were removed from a reply because the deployment may not read the files. */
  readonly onRemovedReferences?: OnRemovedReferences;
  /** Data for administrators. If undefined, the paths are not served. */
  readonly admin?: Pick<AdminDeps, 'journal' | 'callContents' | 'readNode' | 'nodes'>;
  /** Called with each event for the audit log. */
  readonly recordAudit?: RecordAudit;
  /** Called with errors that clients do not see. */
  readonly reportError?: (message: string, error: unknown) => void;
  /** Called with a part of a request that the protocol of its upstream does not support. */
  readonly onUnsupported?: (upstream: Upstream, feature: string) => void;
  /** Certificate and key in PEM. If defined, the service uses TLS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** Called before any route is registered, for hooks on all routes. */
  readonly addHooks?: (app: FastifyInstance) => void;
}
