import { ParleyError } from '#contract/errors.ts';
import type { Call } from '#domain/call.ts';
import { requireAccess } from '#domain/callers/access.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';

/** Chars of a made up name that are told back. */
const longestName = 200;

interface Finding {
  readonly call: Pick<Call, 'deployment' | 'caller'>;
  readonly type: Deployment['type'];
}

/** The deployment a call asks for, at once where it is of the configuration. Throws `deployment_not_found`, `access_denied` or `operation_not_supported`. */
export function find(catalog: Catalog, snapshot: ConfigSnapshot, finding: Finding): Deployment | Promise<Deployment> {
  const found = catalog.find(snapshot, finding.call.deployment);
  return found instanceof Promise ? found.then((made) => checked(made, snapshot, finding)) : checked(found, snapshot, finding);
}

function checked(deployment: Deployment | undefined, snapshot: ConfigSnapshot, { call, type }: Finding): Deployment {
  if (deployment === undefined) {
    throw new ParleyError(
      'deployment_not_found',
      `There is no deployment ${call.deployment.slice(0, longestName)}; GET /v1/models lists yours.`,
    );
  }
  requireAccess(snapshot, call.caller, deployment);
  if (deployment.type !== type) {
    const instead = type === 'chat' ? 'it makes embeddings, not chat completions' : 'it makes no embeddings';
    throw new ParleyError('operation_not_supported', `${deployment.id} cannot answer this: ${instead}.`);
  }
  return deployment;
}
