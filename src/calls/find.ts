import { ParleyError } from '#contract/errors.ts';
import type { Call } from '#domain/call.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { findUsable } from '#domain/deployments/usable-deployments.ts';

interface Finding {
  readonly call: Pick<Call, 'deployment' | 'caller'>;
  readonly type: Deployment['type'];
}

/** The deployment a call asks for, at once if it is of the configuration. Throws what `findUsable` throws, and `operation_not_supported`. */
export function find(catalog: Catalog, snapshot: ConfigSnapshot, { call, type }: Finding): Deployment | Promise<Deployment> {
  const found = findUsable({ catalog, snapshot, caller: call.caller }, call.deployment);
  return found instanceof Promise ? found.then((made) => ofType(type, made)) : ofType(type, found);
}

function ofType(type: Deployment['type'], deployment: Deployment): Deployment {
  if (deployment.type === type) return deployment;
  const instead = type === 'chat' ? 'it makes embeddings, not chat completions' : 'it makes no embeddings';
  throw new ParleyError('operation_not_supported', `${deployment.id} cannot answer this: ${instead}.`);
}
