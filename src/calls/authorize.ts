import { ParleyError } from '#contract/errors.ts';
import type { Call, Target } from '#domain/call.ts';
import { pathTo } from '#domain/callers/chain.ts';
import type { RequireConsent } from '#domain/consent/require-consent.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { apisOf, type Deployment, type DeploymentUse, servingFor } from '#domain/deployments/deployment.ts';
import { findUsable } from '#domain/deployments/usable-deployments.ts';

export interface AuthorizeDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly catalog: Catalog;
  readonly requireConsent: RequireConsent;
}

/**
 * The first step of every call: the deployment exists, its caller may use it and has consented, and the chain of calls may
 * go on to it. Throws what `findUsable`, the consent and `pathTo` throw, and `operation_not_supported`.
 */
export async function authorize(deps: AuthorizeDeps, call: Call, use: DeploymentUse): Promise<Target> {
  const { caller } = call;
  const snapshot = deps.snapshot();
  try {
    const found = await findUsable({ catalog: deps.catalog, snapshot, caller }, call.deployment);
    const asked = call.version === undefined ? found : await versionOf(deps.catalog, found, call);
    const deployment = servingFor(asked, use);
    if (deployment === undefined) throw notSupported(asked, use);
    await deps.requireConsent({ caller, deployment, snapshot });
    return { call, deployment, path: pathTo(deployment, caller), snapshot } as Target;
  } catch (refused) {
    if (refused instanceof ParleyError && refused.status === 403) caller.chain?.noteRefusal?.();
    throw refused;
  }
}

/** Former versions are for the owner alone. */
async function versionOf(catalog: Catalog, { id, ownership }: Deployment, { version = 0, caller }: Call): Promise<Deployment> {
  const found = ownership?.owner === caller.subject ? await catalog.findVersion(id, version) : undefined;
  if (found !== undefined) return found;
  throw new ParleyError('deployment_not_found', `${id} has no version ${version}, or it is no longer kept.`);
}

function notSupported(deployment: Deployment, use: DeploymentUse): ParleyError {
  const { id, type } = deployment;
  if (use === 'embedding' && type === 'chat') return unsupported(id, 'it makes no embeddings');
  if (use === 'chat' && type === 'embedding') return unsupported(id, 'it makes embeddings, not chat completions');
  const apis = apisOf(deployment).map((api) => `/v1/${api}`);
  return unsupported(id, `it is asked at ${apis.join(', ')}`);
}

function unsupported(id: string, instead: string): ParleyError {
  return new ParleyError('operation_not_supported', `${id} cannot answer this: ${instead}.`);
}
