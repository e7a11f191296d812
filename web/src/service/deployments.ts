import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { encodePath, type Service } from './service.ts';

export const makers = ['operator', 'self', 'other'] as const;
type Maker = (typeof makers)[number];

/** A model or application that the signed-in user may talk to. */
export interface Deployment {
  readonly id: string;
  readonly name: string;
  readonly version: string | undefined;
  readonly description: string;
  readonly iconUrl: string | undefined;
  readonly isApplication: boolean;
  /** Who has set it up: those who run the service, the user, or another user. */
  readonly maker: Maker;
  /** Place among all that the service lists: those of the configuration stand in its order. */
  readonly place: number;
  readonly requiresConsent: boolean;
  readonly dependencies: readonly string[];
  /** MIME types it takes as attachments; undefined where it does not say. */
  readonly attachmentTypes: readonly string[] | undefined;
  /** Whether it calls tools of its caller. */
  readonly hasTools: boolean;
  /** Whether it thinks before it answers, as much as it is told to. */
  readonly reasons: boolean;
  /** How many tokens it takes; undefined where it does not say. */
  readonly contextTokens: number | undefined;
  /** USD for a token. */
  readonly pricing: { readonly prompt: number; readonly completion: number } | undefined;
}

const savedByUsers = 'applications/';

/** What the user may talk to: what the service offers, then their own, then that of others, each by name. */
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

/** The user's part of what is kept for users. Throws ServiceFault 404 where the service keeps nothing for them. */
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

/** `own`: how the ids of what the user saved begin. */
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

/** Of an id what people may read: of what users saved without a name, the end of its address. */
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
