import { ParleyError } from '#contract/errors.ts';
import { requireAccess } from '#domain/access.ts';
import type { Call } from '#domain/call.ts';
import type { Deployment } from '#domain/deployment.ts';
import type { Directory } from '#domain/directory.ts';

/** The deployment a call asks for. Throws `deployment_not_found`, `access_denied` or `operation_not_supported`. */
export function find(directory: Directory, call: Pick<Call, 'deployment' | 'caller'>, type: Deployment['type']): Deployment {
  const deployment = directory.deployments.get(call.deployment);
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
