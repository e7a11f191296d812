import type { JsonObject } from '#base/json/json.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import { type PassThroughApi, passThroughApis } from '#contract/pass-through.ts';
import type { QuickApp } from '../quick-app/quick-app.ts';
import type { Upstream, UpstreamApi } from '../upstreams/upstream.ts';

const chatOnly: readonly UpstreamApi[] = ['chat'];

/** A named model or application. */
export interface Deployment {
  readonly id: string;
  readonly kind: 'model' | 'application';
  /** `other`: it neither chats nor makes embeddings; its upstreams serve APIs that are passed through. */
  readonly type: 'chat' | 'embedding' | 'other';
  readonly displayName: string | undefined;
  readonly displayVersion: string | undefined;
  readonly description: string | undefined;
  readonly iconUrl: string | undefined;
  /** Roles that may use it; null for everyone. */
  readonly userRoles: readonly string[] | null;
  readonly features: Readonly<Record<string, unknown>>;
  /** Request fields put in if the request has none. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly dependencies: readonly string[];
  readonly inputAttachmentTypes: readonly string[] | undefined;
  readonly maxInputAttachments: number | undefined;
  readonly limits: TokenLimits | undefined;
  readonly pricing: Pricing | undefined;
  /** Where it is answered; an application has one. */
  readonly upstreams: readonly Upstream[];
  /** Whether programs answer for it that may call others: an application behind an endpoint, or adapters of a model. */
  readonly isServedByPrograms: boolean;
  /** How often one call is tried in all, the first time included. */
  readonly maxAttempts: number;
  /** Whether an application is sent the token of the user who calls it. */
  readonly forwardsToken: boolean;
  /** Set for an application without code. */
  readonly quickApp: QuickApp | undefined;
  /** Set for an application of a type. */
  readonly ofType: ApplicationType | undefined;
  /** Of one that a user made through the API; null for what the configuration has. */
  readonly ownership: Ownership | null;
  /**
   * Path and error of an invalid stored application, which cannot be called until its owner repairs it. Absent if it is valid.
   */
  readonly issue?: string;
}

/** The type of an application, and its settings as they were written, secrets included. */
interface ApplicationType {
  readonly schemaId: string;
  readonly properties: JsonObject;
}

/** Who made an application through the API, and when. */
export interface Ownership {
  /** User subject. */
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Tokens that one call may have. */
interface TokenLimits {
  readonly maxTotalTokens?: number;
  readonly maxPromptTokens?: number;
  readonly maxCompletionTokens?: number;
}

/** USD a token, and a call. */
interface Pricing {
  readonly request?: number;
  readonly prompt?: number;
  readonly completion?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** For tokens that the cache keeps for an hour. */
  readonly cacheWrite1h?: number;
}

/** What a deployment is asked for. */
export type DeploymentUse = 'chat' | 'embedding' | PassThroughApi;

/** The deployment with those of its upstreams that serve such calls; undefined if it answers none. */
export function restrictToUse(deployment: Deployment, use: DeploymentUse): Deployment | undefined {
  const { type, upstreams } = deployment;
  const isPassed = use !== 'chat' && use !== 'embedding';
  if (!isPassed && type !== use) return undefined;
  const serves = ({ apis = chatOnly }: Upstream): boolean => {
    if (use === 'chat') return apis.includes('chat') || apis.includes('responses');
    return use === 'embedding' || apis.includes(use);
  };
  if (upstreams.every(serves)) return isPassed && upstreams.length === 0 ? undefined : deployment;
  const servingUpstreams = upstreams.filter(serves);
  return servingUpstreams.length === 0 ? undefined : { ...deployment, upstreams: servingUpstreams };
}

/** The paths below `/v1` at which a deployment answers, but for those of stored things. */
export function listApis(deployment: Deployment): readonly string[] {
  const { type } = deployment;
  const typeApis = type === 'chat' ? ['chat/completions', 'responses'] : type === 'embedding' ? ['embeddings'] : [];
  return [...typeApis, ...passThroughApis.filter((api) => restrictToUse(deployment, api) !== undefined)];
}

/** Whether the deployment's replies record in their state the controls they offer (docs/wire.md, Chat request). */
export function keepsControls({ upstreams }: Deployment): boolean {
  return upstreams.length > 0 && upstreams.every(({ protocol }) => protocols[protocol].keepsControls);
}
