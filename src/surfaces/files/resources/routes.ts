import type { FastifyInstance } from 'fastify';
import { metadataRoutes } from './metadata-routes.ts';
import { permissionRoutes } from './permission-routes.ts';
import { recordRoutes } from './record-routes.ts';
import { relocationRoutes } from './relocation-routes.ts';
import type { ResourceDeps } from './resource-deps.ts';
import { sharedRoutes } from './shared-routes.ts';

/** What is stored beside files, and what is done with all of it alike. */
export function resourceRoutes(app: FastifyInstance, deps: ResourceDeps): void {
  recordRoutes(app, deps);
  metadataRoutes(app, deps);
  relocationRoutes(app, deps);
  permissionRoutes(app, deps);
  sharedRoutes(app, deps);
}
