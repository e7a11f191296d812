import { isAcceptedType } from '#base/http/media-type.ts';
import type { JsonObject } from '#base/json/json.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import { type PassThroughApi, passThroughApis } from '#contract/pass-through.ts';
import type { QuickApp } from '../quick-app/quick-app.ts';
import { speaksMessages, type Upstream, type UpstreamApi } from '../upstreams/upstream.ts';

const chatOnly: readonly UpstreamApi[] = ['chat'];

/** A named model or application. */
export interface Deployment {
  readonly id: string;
  readonly kind: 'model' | 'application';
  /**
   * `other` means that the upstreams serve only APIs that are passed through, so that it supports neither chat nor embeddings.
   */
  readonly type: 'chat' | 'embedding' | 'other';
  readonly displayName: string | undefined;
  readonly displayVersion: string | undefined;
  readonly description: string | undefined;
  readonly iconUrl: string | undefined;
  /** Roles that may use it. Null if no roles are set. */
  readonly userRoles: readonly string[] | null;
  /** Users that may use it, in addition to those with one of the roles. Null if no users are set. */
  readonly users: readonly string[] | null;
  readonly features: Readonly<Record<string, unknown>>;
  /** Defaults for fields that a request does not set. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly dependencies: readonly string[];
  readonly inputAttachmentTypes: readonly string[] | undefined;
  readonly maxInputAttachments: number | undefined;
  readonly limits: TokenLimits | undefined;
  readonly pricing: Pricing | undefined;
  /** Upstreams that serve it. An application has at most one. */
  readonly upstreams: readonly Upstream[];
  /** Whether applications that may call other deployments serve it: an application behind an endpoint, or adapters of a model. */
  readonly isApplicationBacked: boolean;
  /** Bounds of the queue for calls while every upstream has `maxParallel` calls in progress. */
  readonly queue: { readonly maxWaiting: number; readonly maxWaitMs: number };
  /** Maximum number of attempts per call, including the first. */
  readonly maxAttempts: number;
  /** Whether the application receives the token of the user who calls it. */
  readonly forwardsToken: boolean;
  /** Settings of an application without code. Undefined for any other deployment. */
  readonly quickApp: QuickApp | undefined;
  /** Type of an application and its settings. Undefined if the deployment has no type. */
  readonly applicationType: ApplicationType | undefined;
  /** Owner of a saved application. Null for a configured deployment. */
  readonly ownership: Ownership | null;
  /**
   * Path and error of an invalid stored application. It cannot be called until its owner repairs it. Undefined if it is valid.
   */
  readonly issue?: string;
}

/** Type of an application, and its settings as written, including secrets. */
interface ApplicationType {
  readonly schemaId: string;
  readonly properties: JsonObject;
}

/** Owner of an application that was created through the API, and the times of its creation and last change. */
export interface Ownership {
  /** User subject. */
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

interface TokenLimits {
  readonly maxTotalTokens?: number;
  readonly maxPromptTokens?: number;
  readonly maxCompletionTokens?: number;
}

/** Prices in USD per token, and per call for `request`. */
interface Pricing {
  readonly request?: number;
  readonly prompt?: number;
  readonly completion?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Price of tokens that are cached for one hour. */
  readonly cacheWrite1h?: number;
}

/** API through which a call uses a deployment. */
export type DeploymentUse = 'chat' | 'embedding' | PassThroughApi;

/** Returns the deployment with only those upstreams that serve such calls, or undefined if it does not support them. */
export function restrictToUse(deployment: Deployment, use: DeploymentUse): Deployment | undefined {
  const { type, upstreams } = deployment;
  const isPassThrough = use !== 'chat' && use !== 'embedding';
  if (!isPassThrough && type !== use) return undefined;
  const serves = ({ apis = chatOnly }: Upstream): boolean => {
    if (use === 'chat') return apis.includes('chat') || apis.includes('responses');
    return use === 'embedding' || apis.includes(use);
  };
  if (upstreams.every(serves)) return isPassThrough && upstreams.length === 0 ? undefined : deployment;
  const servingUpstreams = upstreams.filter(serves);
  return servingUpstreams.length === 0 ? undefined : { ...deployment, upstreams: servingUpstreams };
}

/** Returns the paths below `/v1` that a deployment serves, except for those of stored resources. */
export function listApis(deployment: Deployment): readonly string[] {
  const { type } = deployment;
  const typeApis = type === 'chat' ? ['chat/completions', 'responses'] : type === 'embedding' ? ['embeddings'] : [];
  return [...typeApis, ...passThroughApis.filter((api) => restrictToUse(deployment, api) !== undefined)];
}

/** Returns whether the state of the deployment's replies records the controls that they offer (docs/wire.md, Chat request). */
export function storesControls({ upstreams }: Deployment): boolean {
  return upstreams.length > 0 && upstreams.every(({ protocol }) => protocols[protocol].storesControls);
}

/** Features whose value is the address of an application endpoint. */
export const addressFeatures = ['configurationEndpoint', 'rateEndpoint', 'tokenizeEndpoint', 'truncatePromptEndpoint'] as const;
export type AddressFeature = (typeof addressFeatures)[number];

type WithFeatures = Pick<Deployment, 'features'>;

/** Returns the address of a feature, or undefined if no application serves the feature. */
export function findFeatureAddress({ features }: WithFeatures, name: AddressFeature): URL | undefined {
  const address = features[name];
  return typeof address === 'string' ? new URL(address) : undefined;
}

/** Returns whether Parley serves a feature without an address of the application. */
export function isBuiltIn(name: AddressFeature, { kind, type, quickApp }: Deployment): boolean {
  if (name === 'rateEndpoint') return true;
  if (name === 'configurationEndpoint') return quickApp !== undefined;
  return kind === 'model' && (name === 'tokenizeEndpoint' || type === 'chat');
}

/** Returns the features without addresses, which only Parley may see. */
export function getPublicFeatures({ features }: WithFeatures): Readonly<Record<string, unknown>> {
  const names = Object.keys(features);
  if (!names.some(isAddress)) return features;
  return Object.fromEntries(names.filter((name) => !isAddress(name)).map((name) => [name, features[name]]));
}

function isAddress(name: string): boolean {
  return name.endsWith('Endpoint');
}

/** Capabilities of a deployment that have fields in the model lists of several vendors. */
export interface Abilities {
  readonly readsImages: boolean;
  readonly readsPdfs: boolean;
  readonly supportsReasoning: boolean;
  readonly callsTools: boolean;
  /** Whether every upstream is a Claude model behind the Messages dialect. */
  readonly isClaude: boolean;
  /** Maximum number of prompt tokens. Undefined if the configuration does not set it. */
  readonly contextTokens: number | undefined;
  /** Maximum number of tokens in a reply. Undefined if the configuration does not set it. */
  readonly maxOutputTokens: number | undefined;
}

/** Returns the capabilities of a deployment that follow from its configuration and its protocol. */
export function getAbilities(deployment: Deployment): Abilities {
  const { kind, upstreams, inputAttachmentTypes: types, features, limits } = deployment;
  const isClaude = kind === 'model' && upstreams.length > 0 && upstreams.every(speaksMessages);
  const reads = (type: string): boolean => (types === undefined ? isClaude : isAcceptedType(type, types));
  return {
    readsImages: reads('image/png'),
    readsPdfs: reads('application/pdf'),
    supportsReasoning: features.reasoningSupported === true,
    callsTools: typeof features.toolsSupported === 'boolean' ? features.toolsSupported : supportsTools(deployment),
    isClaude,
    contextTokens: limits?.maxPromptTokens ?? limits?.maxTotalTokens,
    maxOutputTokens: limits?.maxCompletionTokens,
  };
}

/** Returns whether every upstream of a chat model accepts tools. */
export function supportsTools({ kind, type, upstreams }: Deployment): boolean {
  return kind === 'model' && type === 'chat' && upstreams.every(({ protocol }) => protocols[protocol].supportsTools);
}
