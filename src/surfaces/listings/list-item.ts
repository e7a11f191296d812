import { toDecimal } from '#base/decimal.ts';
import { apisOf, type Deployment } from '#domain/deployments/deployment.ts';
import { bucketOf } from '#domain/files/bucket.ts';
import { declaredDependencies } from '#domain/quick-app/deployments-as-tools.ts';
import { toListedFeatures } from './features.ts';

const operator = 'organization-owner';

/** A deployment as every listing shows it (docs/wire.md, Listings); what is not configured is left out. */
export function toListItem(deployment: Deployment, createdSeconds: number): Record<string, unknown> {
  const { ownership: made } = deployment;
  const owner = made === null ? operator : bucketOf(made.owner);
  const created = made === null ? createdSeconds : Math.floor(made.createdAtMs / 1000);
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
    updated_at: made === null ? createdSeconds : Math.floor(made.updatedAtMs / 1000),
    features: toListedFeatures(deployment),
    dependencies: toDependencies(deployment),
    input_attachment_types: deployment.inputAttachmentTypes,
    max_input_attachments: deployment.maxInputAttachments,
    ...(deployment.kind === 'model' && ofModel(deployment)),
  };
}

function ofModel(deployment: Deployment): Record<string, unknown> {
  const { id, type, limits, defaults, pricing } = deployment;
  const apis = apisOf(deployment);
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
  const declared = [...new Set(declaredDependencies(deployment))];
  return declared.length === 0 ? undefined : declared;
}
