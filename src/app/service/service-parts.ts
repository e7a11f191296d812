import type { FastifyInstance } from 'fastify';
import type { Caches } from '#base/cache/bounded-cache.ts';
import type { HttpClient } from '#base/http/client.ts';
import type { Clock } from '#base/time/clock.ts';
import type { ShareStore } from '#domain/chats/chat-share.ts';
import type { ChatStore } from '#domain/chats/chat-store.ts';
import type { DependencyGraph } from '#domain/consent/dependency-graph.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { NodeBroadcast } from '#domain/node-broadcast.ts';
import type { NoteUnusablePart } from '#domain/quick-app/unusable-part.ts';
import type { Telemetry } from '#domain/telemetry.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import type { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';
import type { NoteAudit } from '#domain/usage/journal.ts';
import type { NoteRemovedReferences } from '#pipeline/reply-files.ts';
import type { defaultFileLimits, StoredResourcesDeps } from '#services/files/stored-resources.ts';
import type { AdminDeps } from '#surfaces/admin/routes.ts';
import type { Stores } from '../node/open-stores.ts';
import type { EvaluationStores, KeyStores, ResponseStores } from '../node/stores.ts';
import type { PassageStore } from './document-tools.ts';

/** What a service is built of. */
export interface ServiceDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly http: HttpClient;
  readonly embedder: Embedder;
  readonly clock: Clock;
  /** Absent: nobody looks at the sizes of caches. */
  readonly caches?: Caches;
  readonly telemetry: Telemetry;
  /** Pause between the frames that the demo model streams. Absent: one that a reader sees. */
  readonly demoPaceMs?: number;
  /** Health of the upstreams, where others look at it too. */
  readonly loadBalancer?: LoadBalancer;
  readonly stores: Pick<Stores, 'consents' | 'applications' | 'limits' | 'perRequestKeys' | 'seal'>;
  /** Where files are stored, and how much of them. Absent: none are, and their paths are not served. */
  readonly files?: Pick<StoredResourcesDeps, 'index' | 'blobs'> & Partial<typeof defaultFileLimits>;
  /** Where it is kept what stands in them. Absent: quick apps cannot look anything up. */
  readonly passages?: PassageStore;
  /** Where responses are kept. Absent: none are, and their paths are not served. */
  readonly responses?: ResponseStores;
  /** Longest duration of a response in the background. Absent: six hours. */
  readonly maxBackgroundRunMs?: number;
  /** Tells other nodes what does not wait until they look. Absent: there are none, or nobody tells them. */
  readonly broadcast?: NodeBroadcast | undefined;
  /** Where cases and evaluations are kept. Absent: none are, and their paths are not served. */
  readonly evaluations?: EvaluationStores;
  /** Where chats of the page are kept. Absent: none are, and their paths are not served. */
  readonly chats?: ChatStore;
  /** Where it is kept what is shared of them. Absent: nothing is. */
  readonly shares?: ShareStore;
  /** Where keys are kept that users make. Absent: none are, and their paths are not served. */
  readonly keys?: KeyStores;
  /** Called with each dependency graph that is walked, and what dangles in it. */
  readonly noteGraph?: (graph: DependencyGraph) => void;
  /** Called with the documents that an application names and that are not stored, whenever they were looked up. */
  readonly noteMissing?: (application: string, references: readonly string[]) => void;
  /** Called with a part that a quick app names and cannot use, and again once it can. */
  readonly noteUnusablePart?: NoteUnusablePart;
  /** Called with the number of file references that were removed from a reply, since the deployment may not read the files. */
  readonly noteRemovedReferences?: NoteRemovedReferences;
  /** What those with the role `admin` are shown. Absent: its paths are not served. */
  readonly admin?: Pick<AdminDeps, 'journal' | 'readNode'>;
  /** Called with what belongs in the audit log. */
  readonly noteAudit?: NoteAudit;
  /** Called with faults that callers do not see. */
  readonly reportError?: (message: string, error: unknown) => void;
  /** Called with a part of a request that the dialect of its upstream has no place for. */
  readonly onUnsupported?: (upstream: Upstream, what: string) => void;
  /** Served over TLS where given, in PEM. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** What else is to stand on every route; runs before any is registered. */
  readonly prepare?: (app: FastifyInstance) => void;
}
