import { ParleyError } from '#contract/errors.ts';
import { requireAccess } from '#domain/access.ts';
import type { Call } from '#domain/call.ts';
import type { Catalog } from '#domain/catalog.ts';
import type { Deployment } from '#domain/deployment.ts';
import type { Directory } from '#domain/directory.ts';

/** Chars of a made up name that are told back. */
const longestName = 200;

interface Finding {
  readonly call: Pick<Call, 'deployment' | 'caller'>;
  readonly type: Deployment['type'];
}

/** The deployment a call asks for, at once where it is of the configuration. Throws `deployment_not_found`, `access_denied` or `operation_not_supported`. */
export function find(catalog: Catalog, directory: Directory, finding: Finding): Deployment | Promise<Deployment> {
  const found = catalog.find(directory, finding.call.deployment);
  return found instanceof Promise ? found.then((made) => checked(made, directory, finding)) : checked(found, directory, finding);
}

function checked(deployment: Deployment | undefined, directory: Directory, { call, type }: Finding): Deployment {
  if (deployment === undefined) {
    throw new ParleyError(
      'deployment_not_found',
      `There is no deployment ${call.deployment.slice(0, longestName)}; GET /v1/models lists yours.`,
    );
  }
  requireAccess(directory, call.caller, deployment);
  if (deployment.type !== type) {
    const instead = type === 'chat' ? 'it makes embeddings, not chat completions' : 'it makes no embeddings';
    throw new ParleyError('operation_not_supported', `${deployment.id} cannot answer this: ${instead}.`);
  }
  return deployment;
}
