import type { Call } from '#domain/call.ts';
import { pathTo } from '#domain/callers/chain.ts';
import type { RequireConsent } from '#domain/consent/require-consent.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { find } from './find.ts';

export interface EnterDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly catalog: Catalog;
  readonly requireConsent: RequireConsent;
}

interface Entered {
  /** As it was when the call came: a reload does not change a call under way. */
  readonly snapshot: ConfigSnapshot;
  readonly deployment: Deployment;
  /** Ids from the root through the deployment. */
  readonly path: readonly string[];
}

/**
 * The first steps of every call: its deployment is there, its caller may use it and has consented, and its path may go on to it.
 * Throws what `find`, the consent and `pathTo` throw.
 */
export async function enter(
  tools: EnterDeps,
  call: Pick<Call, 'deployment' | 'caller'>,
  type: Deployment['type'],
): Promise<Entered> {
  const { caller } = call;
  const snapshot = tools.snapshot();
  const deployment = await find(tools.catalog, snapshot, { call, type });
  await tools.requireConsent({ caller, deployment, snapshot });
  return { snapshot, deployment, path: pathTo(deployment, caller) };
}
