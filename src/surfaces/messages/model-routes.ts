import type { FastifyInstance } from 'fastify';
import { pathBelow } from '#base/url-path.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { type Abilities, getAbilities } from '#domain/deployments/abilities.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { findUsable, listUsable } from '#domain/deployments/usable-deployments.ts';
import { readCredentials } from '../http/read-request.ts';

export interface ModelRoutesDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly catalog: Catalog;
  readonly identify: Identify;
  /** Shown as the time a deployment was made; seconds since the epoch. */
  readonly createdSeconds: number;
}

/** `/{alias}/v1/models[/{id}]`: what the caller may use, in the shape of the dialect. */
export function modelRoutes(
  app: FastifyInstance,
  alias: string,
  { snapshot, catalog, identify, createdSeconds }: ModelRoutesDeps,
): void {
  const base = `/${alias}/v1/models`;
  const toItem = (deployment: Deployment): object => toModelItem(deployment, new Date(createdSeconds * 1000).toISOString());
  app.get(base, async ({ raw }) => {
    const caller = await identify(readCredentials(raw, true), raw, 'accepts bound keys');
    const usable = await listUsable({ catalog, snapshot: snapshot(), caller }, isChat);
    const ids = usable.map(({ id }) => id);
    return { data: usable.map(toItem), has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
  });
  app.get(`${base}/*`, async ({ raw, url }) => {
    const caller = await identify(readCredentials(raw, true), raw, 'accepts bound keys');
    const id = toDeploymentId(pathBelow(`${base}/`, url));
    return toItem(await findUsable({ catalog, snapshot: snapshot(), caller }, id, isChat));
  });
}

function isChat({ type }: Deployment): boolean {
  return type === 'chat';
}

/** All fields of the dialect; what is not known is null. */
function toModelItem(deployment: Deployment, created_at: string): object {
  const { id, displayName } = deployment;
  const abilities = getAbilities(deployment);
  return {
    type: 'model',
    id,
    display_name: displayName ?? id,
    created_at,
    max_input_tokens: abilities.contextTokens ?? null,
    max_tokens: abilities.maxOutputTokens ?? null,
    capabilities: toCapabilities(abilities),
    line: null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
  };
}

/** Returns all capabilities of the dialect. Capabilities that only Claude models have are not translated for other models. */
function toCapabilities({ readsImages, readsPdfs, reasons, isClaude }: Abilities): object {
  const support = (supported: boolean) => ({ supported });
  return {
    batch: support(false),
    citations: support(isClaude),
    code_execution: support(isClaude),
    context_management: {
      ...{ supported: isClaude, clear_thinking_20251015: null, clear_tool_uses_20250919: null, compact_20260112: null },
    },
    effort: {
      ...{ supported: reasons, low: support(reasons), medium: support(reasons), high: support(reasons) },
      ...{ max: support(reasons && isClaude), xhigh: null },
    },
    image_input: support(readsImages),
    pdf_input: support(readsPdfs),
    server_tools: { supported: isClaude, code_execution: support(isClaude), web_search: support(isClaude) },
    structured_outputs: support(true),
    thinking: { supported: reasons, types: { adaptive: support(reasons && isClaude), enabled: support(reasons) } },
  };
}
