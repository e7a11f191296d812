import type { FastifyInstance } from 'fastify';
import type { AddonEntry } from '#contract/configuration/service.ts';
import { readCredentials } from '../http/read-request.ts';
import type { ListingDeps } from './routes.ts';

/** `/{prefix}/addons`: what a request can name under `addons`; `/{prefix}/assistants`, of which there are none (docs/wire.md, Listings). */
export function addonRoutes(app: FastifyInstance, deps: Omit<ListingDeps, 'catalog' | 'modelPaths'>): void {
  for (const prefix of deps.prefixes) {
    app.get(`/${prefix}/addons`, async ({ raw }) => {
      await deps.identify(readCredentials(raw), raw, 'accepts bound keys');
      const { addons } = deps.snapshot().configuration;
      return { object: 'list', data: Object.entries(addons).map(([name, addon]) => toItem(name, addon, deps.createdSeconds)) };
    });
    app.get(`/${prefix}/assistants`, async ({ raw }) => {
      await deps.identify(readCredentials(raw), raw, 'accepts bound keys');
      return { object: 'list', data: [] };
    });
  }
}

/** Not where it is, which is the operator's business. */
function toItem(name: string, { displayName, description }: AddonEntry, createdSeconds: number): Record<string, unknown> {
  return {
    id: name,
    object: 'addon',
    addon: name,
    display_name: displayName ?? name,
    description,
    owner: 'organization-owner',
    status: 'succeeded',
    created_at: createdSeconds,
    updated_at: createdSeconds,
  };
}
