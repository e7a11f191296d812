import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ApplicationEntry, ModelEntry } from '#contract/configuration/deployments.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import { completeQuickApp } from '#contract/quick-app/quick-app-issues.ts';
import { KeyRing } from '../callers/key-ring.ts';
import { LimitAlerts } from '../limits/limit-alerts.ts';
import { LimitRules } from '../limits/limits.ts';
import { toQuickApp } from '../quick-app/to-quick-app.ts';
import { toApplicationUpstream, toUpstreams } from '../upstreams/to-upstreams.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import type { Deployment, Ownership } from './deployment.ts';

/** A configuration, prepared for lookups. A reload creates a new snapshot. Calls in progress keep theirs. */
export interface ConfigSnapshot {
  readonly configuration: Configuration;
  readonly deployments: ReadonlyMap<string, Deployment>;
  readonly keys: KeyRing;
  readonly limits: LimitRules;
}

export function createConfigSnapshot(configuration: Configuration): ConfigSnapshot {
  const deployments = new Map<string, Deployment>();
  for (const [id, entry] of Object.entries(configuration.models)) deployments.set(id, toModel(id, entry));
  for (const [id, entry] of Object.entries(configuration.applications)) deployments.set(id, toApplication(id, entry));
  const alerts = new LimitAlerts(configuration);
  const limits = new LimitRules(configuration, (...found) => alerts.attach(...found));
  return { configuration, deployments, keys: new KeyRing(configuration.keys), limits };
}

function toModel(id: string, entry: ModelEntry): Deployment {
  const upstreams = toUpstreams(id, entry);
  return {
    ...toCommonFields(id, entry),
    kind: 'model',
    type: getType(entry, upstreams),
    limits: entry.limits,
    pricing: entry.pricing,
    upstreams,
    queue: entry.queue,
    isApplicationBacked: upstreams.some(({ protocol }) => protocols[protocol].callsDeployments),
    forwardsToken: false,
    quickApp: undefined,
    applicationType: undefined,
    ownership: null,
  };
}

/** Returns `other` for a model whose upstreams serve only APIs that are passed through. */
function getType({ type }: ModelEntry, upstreams: readonly Upstream[]): Deployment['type'] {
  const servesChat = upstreams.some(({ apis }) => apis === undefined || apis.includes('chat') || apis.includes('responses'));
  return type === 'embedding' || servesChat ? type : 'other';
}

/** Returns the deployment of an application. `ownership` is null for a configured application. */
export function toApplication(id: string, entry: ApplicationEntry, ownership: Ownership | null = null): Deployment {
  const { endpoint, applicationTypeSchemaId: schemaId, applicationProperties } = entry;
  const isQuickApp = endpoint === undefined && applicationProperties !== undefined;
  return {
    ...toCommonFields(id, entry),
    kind: 'application',
    type: 'chat',
    limits: undefined,
    pricing: undefined,
    upstreams: endpoint === undefined ? [] : [toApplicationUpstream(id, entry, endpoint, ownership !== null)],
    queue: { maxWaiting: 0, maxWaitMs: 0 },
    isApplicationBacked: endpoint !== undefined,
    forwardsToken: entry.forwardAuthToken === true && ownership === null,
    quickApp: isQuickApp ? toQuickApp(completeQuickApp(applicationProperties)) : undefined,
    applicationType: schemaId === undefined ? undefined : { schemaId, properties: applicationProperties ?? {} },
    ownership,
  };
}

function toCommonFields(id: string, entry: ModelEntry | ApplicationEntry) {
  return {
    id,
    displayName: entry.displayName,
    displayVersion: entry.displayVersion,
    description: entry.description,
    iconUrl: entry.iconUrl,
    userRoles: entry.userRoles ?? null,
    users: ('users' in entry && entry.users) || null,
    features: entry.features,
    defaults: entry.defaults,
    dependencies: entry.dependencies,
    inputAttachmentTypes: entry.inputAttachmentTypes,
    maxInputAttachments: entry.maxInputAttachments,
    maxAttempts: entry.maxRetryAttempts,
  };
}
