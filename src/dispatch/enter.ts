import type { Call } from '#domain/call.ts';
import type { Catalog } from '#domain/catalog.ts';
import { pathTo } from '#domain/chain.ts';
import type { RequireConsent } from '#domain/consent.ts';
import type { Deployment } from '#domain/deployment.ts';
import type { Directory } from '#domain/directory.ts';
import { find } from './find.ts';

export interface EnterTools {
  readonly directory: () => Directory;
  readonly catalog: Catalog;
  readonly requireConsent: RequireConsent;
}

interface Entered {
  /** As it was when the call came: a reload does not change a call under way. */
  readonly directory: Directory;
  readonly deployment: Deployment;
  /** Ids from the root through the deployment. */
  readonly path: readonly string[];
}

/**
 * The first steps of every call: its deployment is there, its caller may use it and has consented, and its path may go on to it.
 * Throws what `find`, the consent and `pathTo` throw.
 */
export async function enter(
  tools: EnterTools,
  call: Pick<Call, 'deployment' | 'caller'>,
  type: Deployment['type'],
): Promise<Entered> {
  const { caller } = call;
  const directory = tools.directory();
  const deployment = await find(tools.catalog, directory, { call, type });
  await tools.requireConsent({ caller, deployment, directory });
  return { directory, deployment, path: pathTo(deployment, caller) };
}
