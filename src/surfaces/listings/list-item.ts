import type { Deployment } from '#domain/deployments/deployment.ts';
import { shownFeatures } from '#domain/deployments/features.ts';
import { bucketOf } from '#domain/files/bucket.ts';
import { declaredDependencies } from '#domain/quick-app/deployments-as-tools.ts';

const operator = 'organization-owner';

/** A deployment as listings show it (docs/wire.md, Listings); what is not configured is left out. */
export function toListItem(deployment: Deployment, createdSeconds: number): Record<string, unknown> {
  const { ownership: made } = deployment;
  const owner = made === null ? operator : bucketOf(made.owner);
  const created = made === null ? createdSeconds : Math.floor(made.createdAtMs / 1000);
  const item: Record<string, unknown> = {
    id: deployment.id,
    object: deployment.kind,
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
    features: shownFeatures(deployment),
    dependencies: toDependencies(deployment),
    input_attachment_types: deployment.inputAttachmentTypes,
    max_input_attachments: deployment.maxInputAttachments,
  };
  if (deployment.kind === 'application') return item;
  return {
    ...item,
    capabilities: { chat_completion: deployment.type === 'chat', embeddings: deployment.type === 'embedding' },
    limits: deployment.limits && {
      max_total_tokens: deployment.limits.maxTotalTokens,
      max_prompt_tokens: deployment.limits.maxPromptTokens,
      max_completion_tokens: deployment.limits.maxCompletionTokens,
    },
    pricing: deployment.pricing && {
      unit: 'token',
      prompt: deployment.pricing.prompt,
      completion: deployment.pricing.completion,
      cache_read: deployment.pricing.cacheRead,
      cache_write: deployment.pricing.cacheWrite,
    },
  };
}

function toDependencies(deployment: Deployment): readonly string[] | undefined {
  const declared = [...new Set(declaredDependencies(deployment))];
  return declared.length === 0 ? undefined : declared;
}
