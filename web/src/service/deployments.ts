import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { encodePath, type Service } from './service.ts';

export const makers = ['operator', 'self', 'other'] as const;
type Maker = (typeof makers)[number];

/** A model or application that the signed-in user may use. */
export interface Deployment {
  readonly id: string;
  readonly name: string;
  readonly version: string | undefined;
  readonly description: string;
  readonly iconUrl: string | undefined;
  readonly isApplication: boolean;
  /** Owner: the operator, the user, or another user. */
  readonly maker: Maker;
  /** Position in the list of the service. Configured deployments keep their order. */
  readonly place: number;
  readonly requiresConsent: boolean;
  readonly dependencies: readonly string[];
  /** Accepted MIME types of attachments. Undefined if unknown. */
  readonly attachmentTypes: readonly string[] | undefined;
  /** Whether it calls client tools. */
  readonly hasTools: boolean;
  /** Whether it thinks before it answers, with an adjustable effort. */
  readonly reasons: boolean;
  /** Context window in tokens. Undefined if unknown. */
  readonly contextTokens: number | undefined;
  /** USD per token. */
  readonly pricing: { readonly prompt: number; readonly completion: number } | undefined;
}

const savedByUsers = 'applications/';

/** Lists the user's deployments: those of the service, then the user's own, then shared ones, each sorted by name. */
export async function listDeployments(service: Service): Promise<readonly Deployment[]> {
  const answer = await service.json('openai/deployments');
  const items = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  const chatting = items.filter(({ capabilities }) => !isJsonObject(capabilities) || capabilities.chat_completion !== false);
  const isAnySaved = chatting.some(({ id }) => toText(id)?.startsWith(savedByUsers));
  const ownPrefix = isAnySaved ? `${savedByUsers}${await readBucket(service).catch(() => '')}/` : savedByUsers;
  return chatting
    .map((item, index) => toDeployment(item, index, ownPrefix))
    .sort((left, right) => getRank(left) - getRank(right) || left.name.localeCompare(right.name));
}

/** Returns the user's bucket. Throws `ServiceError` with status 404 if the service stores no user data. */
export async function readBucket(service: Service): Promise<string> {
  const answer = await service.json('v1/bucket');
  return isJsonObject(answer) ? String(answer.bucket) : '';
}

function getRank({ maker }: Deployment): number {
  return makers.indexOf(maker);
}

/**
 * Returns the starter prompts of a deployment, an empty list if it has no such prompts. Prompts of another user's application
 * come from the listing. Its configuration may be a program of that user, which must not learn of visitors who have sent nothing.
 */
export async function readStarters(
  service: Service,
  { id, maker }: Pick<Deployment, 'id' | 'maker'>,
): Promise<readonly string[]> {
  const path = maker === 'other' ? `openai/applications/${encodePath(id)}` : `v1/deployments/${encodePath(id)}/configuration`;
  const answer = await service.json(path).catch(() => undefined);
  const form = maker === 'other' && isJsonObject(answer) ? answer.application_properties : answer;
  return isJsonObject(form) ? toTexts(form.starters) : [];
}

/** `ownPrefix`: ID prefix of the user's own deployments. */
function toDeployment(item: JsonObject, position: number, ownPrefix: string): Deployment {
  const features = isJsonObject(item.features) ? item.features : {};
  const id = toText(item.id) ?? '';
  return {
    id,
    name: toText(item.display_name) ?? getPlainName(id),
    version: toText(item.display_version),
    description: toText(item.description) ?? '',
    iconUrl: toText(item.icon_url),
    isApplication: item.object !== 'model',
    maker: !id.startsWith(savedByUsers) ? 'operator' : id.startsWith(ownPrefix) ? 'self' : 'other',
    place: position,
    requiresConsent: features.consentRequired === true || features.consent_required === true,
    dependencies: toTexts(item.dependencies),
    attachmentTypes: Array.isArray(item.input_attachment_types) ? toTexts(item.input_attachment_types) : undefined,
    hasTools: features.tools === true,
    reasons: features.reasoning === true || (isJsonObject(item.defaults) && toText(item.defaults.reasoning_effort) !== undefined),
    contextTokens: toContext(item.limits),
    pricing: toPricing(item.pricing),
  };
}

/** Returns a readable name for an ID. For unnamed deployments of users, it is the last part. */
export function getPlainName(id: string): string {
  const last = id.startsWith(savedByUsers) ? (id.split('/').at(-1) ?? id) : id;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

function toPricing(pricing: unknown): Deployment['pricing'] {
  if (!isJsonObject(pricing)) return undefined;
  const [prompt, completion] = [Number(pricing.prompt ?? 0), Number(pricing.completion ?? 0)];
  return Number.isFinite(prompt + completion) ? { prompt, completion } : undefined;
}

function toContext(limits: unknown): number | undefined {
  if (!isJsonObject(limits)) return undefined;
  const tokens = limits.max_prompt_tokens ?? limits.max_total_tokens;
  return typeof tokens === 'number' ? tokens : undefined;
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
