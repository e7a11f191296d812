import type { FastifyRequest } from 'fastify';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { ApplicationResources } from '#domain/deployments/application-resources.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { StoredResources } from '#services/files/stored-resources.ts';
import { readCredentials } from '../../http/read-request.ts';

/** Dependencies of the routes for stored items. */
export interface ResourceDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly identify: Identify;
  /** Files, prompts, and conversations. */
  readonly contents: StoredResources;
  readonly applications: ApplicationResources;
}

/** Returns the caller. Throws the errors of `identify`. */
export async function identifyCaller({ identify }: Pick<ResourceDeps, 'identify'>, { raw }: FastifyRequest): Promise<Caller> {
  return identify(readCredentials(raw), raw);
}
