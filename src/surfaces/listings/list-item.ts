import { isHttpUrl } from '#contract/configuration/values.ts';
import {
  type AddressFeature,
  addressFeatures,
  type Deployment,
  isBuiltIn,
  listApis,
  supportsTools,
} from '#domain/deployments/deployment.ts';
import { toBucket } from '#domain/files/bucket.ts';
import { listDeclaredDependencies } from '#domain/quick-app/deployments-as-tools.ts';

/** Owner of configured deployments and addons in listings. */
export const operator = 'organization-owner';

/** Returns the fields of a deployment that all listings share (docs/wire.md, Listings). Missing settings are undefined. */
export function toListItem(deployment: Deployment, createdSeconds: number): Record<string, unknown> {
  const { ownership } = deployment;
  const owner = ownership === null ? operator : toBucket(ownership.owner);
  const created = ownership === null ? createdSeconds : Math.floor(ownership.createdAtMs / 1000);
  return {
    id: deployment.id,
    object: deployment.kind,
    reference: deployment.id,
    display_name: deployment.displayName ?? deployment.id,
    display_version: deployment.displayVersion,
    description: deployment.description,
    icon_url: deployment.iconUrl,
    owner,
    owned_by: owner,
    status: 'succeeded',
    created,
    created_at: created,
    updated_at: ownership === null ? createdSeconds : Math.floor(ownership.updatedAtMs / 1000),
    features: toListedFeatures(deployment),
    dependencies: toDependencies(deployment),
    input_attachment_types: deployment.inputAttachmentTypes,
    max_input_attachments: deployment.maxInputAttachments,
    ...(deployment.kind === 'model' && toModelFields(deployment)),
  };
}

function toModelFields(deployment: Deployment): Record<string, unknown> {
  const { id, type, limits, defaults, pricing } = deployment;
  const apis = listApis(deployment);
  return {
    model: id,
    lifecycle_status: 'generally-available',
    capabilities: {
      scale_types: ['standard'],
      completion: apis.includes('completions'),
      chat_completion: type === 'chat',
      embeddings: type === 'embedding',
      fine_tune: false,
      inference: false,
      apis,
    },
    limits: limits && {
      max_total_tokens: limits.maxTotalTokens,
      max_prompt_tokens: limits.maxPromptTokens,
      max_completion_tokens: limits.maxCompletionTokens,
    },
    defaults,
    pricing: pricing && {
      unit: 'token',
      request: toPrice(pricing.request),
      prompt: toPrice(pricing.prompt),
      completion: toPrice(pricing.completion),
      cache_read: toPrice(pricing.cacheRead),
      cache_write: toPrice(pricing.cacheWrite),
      cache_write_1h: toPrice(pricing.cacheWrite1h),
    },
  };
}

function toPrice(usd: number | undefined): string | undefined {
  return usd === undefined ? undefined : toDecimal(usd);
}

function toDependencies(deployment: Deployment): readonly string[] | undefined {
  const dependencies = [...new Set(listDeclaredDependencies(deployment))];
  return dependencies.length === 0 ? undefined : dependencies;
}

/** Names of feature flags in listings, by their names in the configuration. */
const flagNames: Readonly<Record<string, string>> = {
  systemPromptSupported: 'system_prompt',
  toolsSupported: 'tools',
  reasoningSupported: 'reasoning',
  seedSupported: 'seed',
  urlAttachmentsSupported: 'url_attachments',
  folderAttachmentsSupported: 'folder_attachments',
  allowResume: 'allow_resume',
  accessibleByPerRequestKey: 'accessible_by_per_request_key',
};

/** Names of features in listings, by the field of the configuration that contains the URL of their endpoint. */
const endpointFeatures: Readonly<Record<AddressFeature, string>> = {
  rateEndpoint: 'rate',
  tokenizeEndpoint: 'tokenize',
  truncatePromptEndpoint: 'truncate_prompt',
  configurationEndpoint: 'configuration',
};

/** Returns the features as listings show them (docs/wire.md, Listings). Omits URLs, and converts endpoints to booleans. */
function toListedFeatures(deployment: Deployment): Record<string, unknown> {
  const { features } = deployment;
  const visibleFields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(features)) if (!hasListedName(key) && !isUrl(value)) visibleFields[key] = value;
  for (const key of addressFeatures)
    visibleFields[endpointFeatures[key]] = features[key] !== undefined || isBuiltIn(key, deployment);
  for (const [key, name] of Object.entries(flagNames)) visibleFields[name] = features[key];
  visibleFields.tools ??= supportsTools(deployment);
  return visibleFields;
}

function hasListedName(key: string): boolean {
  return Object.hasOwn(flagNames, key) || Object.hasOwn(endpointFeatures, key);
}

function isUrl(value: unknown): boolean {
  return typeof value === 'string' && isHttpUrl(value);
}

/** Formats a non-negative number without an exponent, such as `0.0000005`. The result parses to exactly the same number. */
export function toDecimal(value: number): string {
  // Intl.NumberFormat would load 4 MB of data.
  const [mantissa = '', exponent] = String(value).split('e');
  if (exponent === undefined) return mantissa;
  const [integer = '', fraction = ''] = mantissa.split('.');
  const digits = integer + fraction;
  const point = integer.length + Number(exponent);
  return point <= 0 ? `0.${'0'.repeat(-point)}${digits}` : digits.padEnd(point, '0');
}
