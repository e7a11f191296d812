import { ParleyError } from '#contract/errors.ts';
import { requireAccess } from '#domain/access.ts';
import type { Call } from '#domain/call.ts';
import type { Catalog } from '#domain/catalog.ts';
import type { Deployment } from '#domain/deployment.ts';
import type { Directory } from '#domain/directory.ts';

interface Finding {
  readonly call: Pick<Call, 'deployment' | 'caller'>;
  readonly type: Deployment['type'];
}

/** The deployment a call asks for. Throws `deployment_not_found`, `access_denied` or `operation_not_supported`. */
export async function find(catalog: Catalog, directory: Directory, { call, type }: Finding): Promise<Deployment> {
  const deployment = await catalog.find(directory, call.deployment);
  if (deployment === undefined) {
    throw new ParleyError(
      'deployment_not_found',
      `There is no deployment ${call.deployment}; GET /openai/deployments lists yours.`,
    );
  }
  requireAccess(directory, call.caller, deployment);
  if (deployment.type !== type) {
    const instead = type === 'chat' ? 'it makes embeddings, not chat completions' : 'it makes no embeddings';
    throw new ParleyError('operation_not_supported', `${deployment.id} cannot answer this: ${instead}.`);
  }
  return deployment;
}
