import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { composeService } from '#app/service/compose.ts';
import type { ServiceDeps } from '#app/service/service-deps.ts';
import { LocalEmbedder } from '#base/embedding/local-embedder.ts';
import type { HttpClient } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { type Clock, systemClock } from '#base/time/clock.ts';
import { checkConfiguration } from '#configuration/check.ts';
import { LiveConfig } from '#configuration/live-config.ts';
import { formatConfigurationError, type ValidConfiguration } from '#contract/configuration/checked-configuration.ts';
import type { EntryStore } from '#domain/administration/entry-store.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import type { Telemetry } from '#domain/calls/telemetry.ts';
import type { ConsentStore } from '#domain/consent/consent.ts';
import type { DependencyGraph } from '#domain/consent/dependency-graph.ts';
import type { ApplicationStore } from '#domain/deployments/application-store.ts';
import type { LimitStore } from '#domain/limits/limit-store.ts';
import type { OnUnusablePart } from '#domain/quick-app/quick-app.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import type { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { RecordAudit } from '#domain/usage/journal.ts';
import { FirstStart } from '#services/administration/first-start.ts';
import { RuntimeEntries } from '#services/administration/runtime-entries.ts';
import type { InFlightCalls } from '#services/node/in-flight-calls.ts';
import { MemoryLimitStore } from '#stores/memory/limit-store.ts';
import { MemoryPerRequestKeys } from '#stores/memory/per-request-keys.ts';
import { noopTelemetry } from '#test/noop-telemetry.ts';
import { describeApi } from './api-description.ts';
import { recordAnswers } from './described-answers.ts';
import { MemoryApplicationStore } from './memory-application-store.ts';
import { MemoryConsentStore } from './memory-consent-store.ts';
import type { StreamReader } from './read-events.ts';
import { openStream, sendAndDisconnect, sendRequest, type TestRequest, type TestResponse } from './send-request.ts';

/** The key that `chat` and `stream` send by default. */
export const callerKey = 'caller-key';

export interface ServiceOptions {
  /** Default: any free port. */
  readonly port?: number;
  readonly telemetry?: Telemetry;
  readonly http?: HttpClient;
  readonly clock?: Clock;
  readonly limitStore?: LimitStore;
  readonly perRequestKeys?: PerRequestKeys;
  /** Pause between the frames of the demo model. Default: almost none. */
  readonly demoPaceMs?: number;
  /** Default: a separate store in memory. */
  readonly consents?: ConsentStore;
  readonly applications?: ApplicationStore;
  readonly files?: NonNullable<ServiceDeps['files']>;
  readonly passages?: NonNullable<ServiceDeps['passages']>;
  /** Default: the built-in model, which all services of this process share. */
  readonly embedder?: Embedder;
  readonly responses?: NonNullable<ServiceDeps['responses']>;
  readonly maxBackgroundRunMs?: number;
  readonly maxUserInputBytes?: number;
  readonly broadcast?: NonNullable<ServiceDeps['broadcast']>;
  readonly evaluations?: NonNullable<ServiceDeps['evaluations']>;
  readonly chats?: NonNullable<ServiceDeps['chats']>;
  readonly shares?: NonNullable<ServiceDeps['shares']>;
  readonly keys?: NonNullable<ServiceDeps['keys']>;
  readonly alerts?: NonNullable<ServiceDeps['alerts']>;
  readonly admin?: NonNullable<ServiceDeps['admin']>;
  /** Store of entries that administrators create at run time. */
  readonly entryStore?: EntryStore;
  /** Default: the service has an administrator. */
  readonly firstStart?: FirstStart;
  readonly onDependencyGraph?: (graph: DependencyGraph) => void;
  readonly onMissingDocuments?: (application: string, references: readonly string[]) => void;
  readonly onUnusablePart?: OnUnusablePart;
  readonly recordAudit?: RecordAudit;
  readonly reportError?: (message: string, error: unknown) => void;
}

/** An entry of the audit log, as `recordAudit` receives it. */
export type AuditEvent = Parameters<RecordAudit>[0];
export type { DependencyGraph };

type Headers = Readonly<Record<string, string>>;

export interface TestService extends AsyncDisposable {
  readonly url: string;
  readonly app: FastifyInstance;
  readonly inFlightCalls: InFlightCalls;
  readonly loadBalancer: LoadBalancer;
  readonly snapshot: LiveConfig;
  sendRequest(options: TestRequest): Promise<TestResponse>;
  /** Sends a chat completion to the deployment path. */
  chat(deployment: string, body: object, headers?: Headers): Promise<TestResponse>;
  /** Sends a streaming chat completion. Resolves when the response header arrives. */
  stream(deployment: string, body: object, headers?: Headers): Promise<StreamReader>;
  /** Sends a chat completion whose client can disconnect before the response arrives. */
  chatAndDisconnect(deployment: string, body: object): { disconnect(): number };
  reload(configuration: object): void;
  /** Resumes every paused upstream of the configuration. */
  forgetFailures(): void;
  close(): Promise<void>;
}

/** The pace that users see, for tests that act while the demo model answers. */
export const usersDemoPaceMs = 15;

/** The model takes half a second of a core to load, so it stays loaded. Its thread does not keep the process alive. */
const sharedEmbedder = new LocalEmbedder();

/** Starts the complete service in this process on a separate port. The configuration may omit `keys`. */
export async function startService(configuration: object, options: ServiceOptions = {}): Promise<TestService> {
  const { embedder = sharedEmbedder } = options;
  const http = options.http ?? new LeanClient();
  const accepted = toValidConfiguration(configuration);
  const snapshot = new LiveConfig(accepted.configuration);
  const {
    port = 0,
    clock = systemClock,
    telemetry = noopTelemetry,
    demoPaceMs = 1,
    entryStore,
    firstStart = withAdministrator,
    ...deps
  } = options;
  const entries = entryStore && openEntries(entryStore, { snapshot, accepted, clock });
  await entries?.start();
  const { app, inFlightCalls, loadBalancer } = composeService({
    ...deps,
    ...(entries && entryStore && { entries: { entries, store: entryStore, firstStart } }),
    stores: toStores(options),
    snapshot: snapshot.current,
    http,
    embedder,
    clock,
    telemetry,
    demoPaceMs,
  });
  recordAnswers(app.server, () => describeApi(snapshot.current().configuration.aliases));
  await app.listen({ host: '127.0.0.1', port });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    inFlightCalls.abort(new Error('the test has ended'));
    app.server.closeAllConnections();
    entries?.close();
    await app.close();
    http.close();
  };
  return {
    url,
    app,
    inFlightCalls,
    loadBalancer,
    snapshot,
    sendRequest: (options) => sendRequest(url, options),
    chat: (deployment, body, headers) => sendRequest(url, toTestRequest(deployment, body, headers)),
    stream: (deployment, body, headers) => openStream(url, toTestRequest(deployment, { stream: true, ...body }, headers)),
    chatAndDisconnect: (deployment, body) => sendAndDisconnect(url, toTestRequest(deployment, body)),
    reload(next) {
      const loaded = toValidConfiguration(next);
      if (entries === undefined) snapshot.replace(loaded.configuration);
      else entries.replaceFiles(loaded);
    },
    forgetFailures() {
      for (const { upstreams } of snapshot.current().deployments.values())
        for (const upstream of upstreams) loadBalancer.recordSuccess(upstream, Number.POSITIVE_INFINITY);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the stores of one test, in memory by default. */
function toStores(options: ServiceOptions): Parameters<typeof composeService>[0]['stores'] {
  const newKey = (): string => randomBytes(32).toString('base64url');
  return {
    consents: options.consents ?? new MemoryConsentStore(),
    applications: options.applications ?? new MemoryApplicationStore(),
    limits: options.limitStore ?? new MemoryLimitStore(),
    perRequestKeys: options.perRequestKeys ?? new MemoryPerRequestKeys(newKey),
    seal: new Seal([new Secret('a secret of this test')]),
  };
}

export function getChatPath(deployment: string): string {
  return `/compat/deployments/${deployment}/chat/completions/2024-10-21`;
}

/** Returns the header fields of a valid request. */
export function withKey(key = callerKey): Record<string, string> {
  return { 'api-key': key, 'content-type': 'application/json' };
}

function toTestRequest(deployment: string, body: object, headers: Headers = {}): TestRequest {
  return { path: getChatPath(deployment), headers: { ...withKey(), ...headers }, body };
}

const withAdministrator = new FirstStart({ hasAdministrator: () => true, newId: randomUUID, newSecret: () => '' });

/** Opens the entries of a node that shares its store with other nodes. */
function openEntries(
  store: EntryStore,
  { snapshot, accepted, clock }: { snapshot: LiveConfig; accepted: ValidConfiguration; clock: Clock },
): RuntimeEntries {
  return new RuntimeEntries({
    ...{ store, isShared: true, files: accepted, check: checkConfiguration, clock, newId: randomUUID },
    activate: ({ configuration }) => snapshot.replace(configuration),
    reportError: () => undefined,
  });
}

function toValidConfiguration(value: object): ValidConfiguration {
  const checked = checkConfiguration({ keys: { [callerKey]: { project: 'test' } }, ...value });
  if ('errors' in checked) throw new Error(checked.errors.map(formatConfigurationError).join('\n'));
  return checked;
}
