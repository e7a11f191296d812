import { ParleyError } from '#contract/errors/errors.ts';
import { requireAccess } from '#domain/callers/access.ts';
import { buildPath } from '#domain/callers/call-chain.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Call, Calls, Target } from '#domain/calls/call.ts';
import type { RequireConsent } from '#domain/consent/consent.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { type Deployment, type DeploymentUse, listApis, restrictToUse } from '#domain/deployments/deployment.ts';
import { findUsable } from '#domain/deployments/usable-deployments.ts';
import { toLimitAccount } from '#domain/limits/limit-counters.ts';

/** Dependencies of `createAuthorize`. */
export interface AuthorizeDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly catalog: Catalog;
  readonly requireConsent: RequireConsent;
}

/** Result of the authorization of a call. */
interface Permit extends Pick<Target, 'deployment' | 'path' | 'limitAccount' | 'snapshot'> {
  readonly use: DeploymentUse;
  /** Whether later calls of the caller to the deployment can reuse the permit while the configuration is in force. */
  readonly isCacheable: boolean;
}

/**
 * Returns the function that authorizes a call. It checks that the deployment exists, that the caller may use it and has
 * consented, and that the call chain may continue to it. It rejects with the errors of `findUsable`, `buildPath`, and the consent
 * check. It also rejects with `operation_not_supported`, and with `deployment_not_found` for an unavailable version.
 */
export function createAuthorize(deps: AuthorizeDeps): Calls['authorize'] {
  /** Permits by caller and deployment ID. Reused while the configuration is in force. */
  const permits = new WeakMap<Caller, Map<string, Permit>>();
  return async (call, use) => {
    const snapshot = deps.snapshot();
    const canBeCached = call.version === undefined && call.draft === undefined;
    let permit = canBeCached ? permits.get(call.caller)?.get(call.deployment) : undefined;
    if (permit?.snapshot !== snapshot || permit.use !== use) {
      permit = await createPermit(deps, call, { use, snapshot });
      if (permit.isCacheable) cachePermit(permits, call, permit);
    }
    const { deployment, path, limitAccount } = permit;
    return { call, deployment, path, limitAccount, snapshot } as Target;
  };
}

async function createPermit(
  deps: AuthorizeDeps,
  call: Call,
  { use, snapshot }: Pick<Permit, 'use' | 'snapshot'>,
): Promise<Permit> {
  const { caller } = call;
  try {
    const requested = await findRequestedDeployment(deps.catalog, snapshot, call);
    if (requested.issue !== undefined)
      throw new ParleyError(
        'operation_not_supported',
        `${requested.id} cannot be called until its owner repairs it: ${requested.issue}.`,
      );
    const deployment = restrictToUse(requested, use);
    if (deployment === undefined) throw createUseError(requested, use);
    const consentCheck = deps.requireConsent({ caller, deployment, snapshot });
    await consentCheck;
    const isConfigured = requested === snapshot.deployments.get(call.deployment);
    const isCacheable = isConfigured && caller.chain === null && consentCheck === undefined;
    const limitAccount = toLimitAccount(caller.subject, deployment.id, snapshot.limits.find(caller, deployment.id));
    return { deployment, path: buildPath(deployment, caller), limitAccount, snapshot, use, isCacheable };
  } catch (error) {
    if (error instanceof ParleyError && error.status === 403) caller.chain?.onRejection?.();
    throw error;
  }
}

function cachePermit(permits: WeakMap<Caller, Map<string, Permit>>, { caller, deployment }: Call, permit: Permit): void {
  const callerPermits = permits.get(caller) ?? new Map<string, Permit>();
  permits.set(caller, callerPermits.set(deployment, permit));
}

async function findRequestedDeployment(catalog: Catalog, snapshot: ConfigSnapshot, call: Call): Promise<Deployment> {
  const { draft, caller } = call;
  if (draft !== undefined) {
    requireAccess(snapshot, caller, draft);
    return draft;
  }
  const latest = await findUsable({ catalog, snapshot, caller }, call.deployment);
  return call.version === undefined ? latest : requireVersion(catalog, latest, call);
}

/** Returns the requested version of an application. Only the owner may request a version. */
async function requireVersion(
  catalog: Catalog,
  { id, ownership }: Deployment,
  { version = 0, caller }: Call,
): Promise<Deployment> {
  const match = ownership?.owner === caller.subject ? await catalog.findVersion(id, version) : undefined;
  if (match !== undefined) return match;
  throw new ParleyError('deployment_not_found', `${id} has no version ${version}, or the version is no longer stored.`);
}

function createUseError(deployment: Deployment, use: DeploymentUse): ParleyError {
  const { id, type } = deployment;
  if (use === 'embedding' && type === 'chat') return createUnsupportedError(id, 'it does not support embeddings');
  if (use === 'chat' && type === 'embedding') return createUnsupportedError(id, 'it supports embeddings, not chat completions');
  const apis = listApis(deployment).map((api) => `/v1/${api}`);
  return createUnsupportedError(id, `use ${apis.join(', ')}`);
}

function createUnsupportedError(id: string, reason: string): ParleyError {
  return new ParleyError('operation_not_supported', `${id} does not support this operation: ${reason}.`);
}
