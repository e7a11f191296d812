import type { FastifyInstance } from 'fastify';
import { pathBelow } from '#base/url-path.ts';
import { resourceKinds } from '#domain/files/resource-place.ts';
import { readMetadata } from './metadata.ts';
import { callerOf, type ResourceDeps } from './resource-deps.ts';

/** `/v1/metadata/{kind}/{bucket}/{path}`: what is stored (docs/wire.md, Files). */
export function metadataRoutes(app: FastifyInstance, deps: ResourceDeps): void {
  for (const kind of resourceKinds) {
    const base = `/v1/metadata/${kind}/`;
    app.get(`${base}*`, async (request) => {
      const caller = await callerOf(deps, request);
      const query = request.query as Record<string, unknown>;
      return readMetadata(deps, caller, { kind, encoded: pathBelow(base, request.url), query });
    });
  }
}
