import { tryDecode } from '#base/http/url-path.ts';
import { filterObjects, filterStrings, isJsonObject, type JsonObject, toNumber, toObject, toText } from '#base/json/json.ts';
import { encodePath, type Service } from './service.ts';

/** Owners of deployments: the operator, the signed-in user, and another user. */
export const deploymentOwners = ['operator', 'self', 'other'] as const;
type DeploymentOwner = (typeof deploymentOwners)[number];

/** A model or application that the signed-in user may use. */
export interface Deployment {
  readonly id: string;
  readonly name: string;
  readonly version: string | undefined;
  readonly description: string;
  readonly iconUrl: string | undefined;
  readonly isApplication: boolean;
  readonly owner: DeploymentOwner;
  /** Name of the owner, if the owner shared at least one of the listed applications directly with this user. */
  readonly ownerName: string | undefined;
  /** Position in the list of the service. Configured deployments keep their order. */
  readonly position: number;
  readonly requiresConsent: boolean;
  readonly dependencies: readonly string[];
  /** Accepted MIME types of attachments. Undefined if unknown. */
  readonly attachmentTypes: readonly string[] | undefined;
  /** Maximum number of attachments in a message. Undefined if unknown. */
  readonly maxAttachments: number | undefined;
  /** Whether it can call client tools. */
  readonly hasTools: boolean;
  /** Whether it supports reasoning with an adjustable effort. */
  readonly canReason: boolean;
  /** Context window in tokens. Undefined if unknown. */
  readonly contextTokens: number | undefined;
  /** USD per token. */
  readonly pricing: { readonly prompt: number; readonly completion: number } | undefined;
}

const savedIdPrefix = 'applications/';

/** Lists the available deployments: configured ones, then the user's own, then those of other users, each sorted by name. */
export async function listDeployments(service: Service): Promise<readonly Deployment[]> {
  const answer = await service.json('openai/deployments');
  const items = filterObjects(toObject(answer).data);
  const chatItems = items.filter(({ capabilities }) => !isJsonObject(capabilities) || capabilities.chat_completion !== false);
  const hasSavedItems = chatItems.some(({ id }) => toText(id).startsWith(savedIdPrefix));
  const ownPrefix = hasSavedItems ? `${savedIdPrefix}${await readBucket(service).catch(() => '')}/` : savedIdPrefix;
  return chatItems
    .map((item, index) => toDeployment(item, index, ownPrefix))
    .sort((left, right) => getRank(left) - getRank(right) || left.name.localeCompare(right.name));
}

const buckets = new WeakMap<Service, Promise<string>>();

/** Returns the user's bucket, which is cached. Throws `ServiceError` with status 404 if the service stores no user data. */
export function readBucket(service: Service): Promise<string> {
  const cachedBucket = buckets.get(service);
  if (cachedBucket !== undefined) return cachedBucket;
  const bucket = service.json('v1/bucket').then((answer) => (isJsonObject(answer) ? String(answer.bucket) : ''));
  buckets.set(service, bucket);
  bucket.catch(() => buckets.delete(service));
  return bucket;
}

function getRank({ owner }: Deployment): number {
  return deploymentOwners.indexOf(owner);
}

/**
 * Returns the starter prompts of a deployment, or an empty list. For another user's application, reads them from its entry in the
 * listing. Its owner may control the configuration endpoint, which must not receive a request before the signed-in user has sent
 * a message.
 */
export async function readStarters(
  service: Service,
  { id, owner }: Pick<Deployment, 'id' | 'owner'>,
): Promise<readonly string[]> {
  const path = owner === 'other' ? `openai/applications/${encodePath(id)}` : `v1/deployments/${encodePath(id)}/configuration`;
  const answer = await service.json(path).catch(() => undefined);
  const settings = owner === 'other' && isJsonObject(answer) ? answer.application_properties : answer;
  return filterStrings(toObject(settings).starters);
}

/** Converts an item of the list. `ownPrefix` is the ID prefix of the user's own deployments. */
export function toDeployment(item: JsonObject, position: number, ownPrefix: string): Deployment {
  const [features, limits] = [toObject(item.features), toObject(item.limits)];
  const id = toText(item.id);
  return {
    id,
    name: toText(item.display_name) || getReadableName(id),
    version: toText(item.display_version) || undefined,
    description: toText(item.description),
    iconUrl: toText(item.icon_url) || undefined,
    isApplication: item.object !== 'model',
    owner: !id.startsWith(savedIdPrefix) ? 'operator' : id.startsWith(ownPrefix) ? 'self' : 'other',
    ownerName: toText(item.owner_name) || undefined,
    position,
    requiresConsent: features.consentRequired === true || features.consent_required === true,
    dependencies: filterStrings(item.dependencies),
    attachmentTypes: Array.isArray(item.input_attachment_types) ? filterStrings(item.input_attachment_types) : undefined,
    maxAttachments: toNumber(item.max_input_attachments),
    hasTools: features.tools === true,
    canReason: features.reasoning === true || toText(toObject(item.defaults).reasoning_effort) !== '',
    contextTokens: toNumber(limits.max_prompt_tokens ?? limits.max_total_tokens),
    pricing: toPricing(item.pricing),
  };
}

/** Returns a readable name for an ID: the last segment for a saved deployment, otherwise the complete ID. */
export function getReadableName(id: string): string {
  const last = id.startsWith(savedIdPrefix) ? (id.split('/').at(-1) ?? id) : id;
  return tryDecode(last) ?? last;
}

function toPricing(pricing: unknown): Deployment['pricing'] {
  if (!isJsonObject(pricing)) return undefined;
  const [prompt, completion] = [Number(pricing.prompt ?? 0), Number(pricing.completion ?? 0)];
  return Number.isFinite(prompt + completion) ? { prompt, completion } : undefined;
}
