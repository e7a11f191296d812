import type { FastifyInstance } from 'fastify';
import { requestFault } from '#contract/request-fault.ts';
import { parserOf, RelocationRequest } from '#contract/resource-requests.ts';
import type { Relocation } from '#domain/files/relocation.ts';
import {
  type ContentKind,
  fromUrl,
  isFolder,
  isTooLong,
  maxNamedPathBytes,
  type ResourceKind,
  type ResourcePlace,
  toUrl,
} from '#domain/files/resource-place.ts';
import { serveEarly } from '../../http/serve-early.ts';
import { readOperation } from './read-operation.ts';
import type { ResourceDeps } from './resource-deps.ts';

/** `POST /v1/ops/resource/move` and `/copy` (docs/wire.md, Files). */
export function relocationRoutes(app: FastifyInstance, deps: ResourceDeps): void {
  for (const how of ['move', 'copy'] as const) {
    serveEarly(app, { method: 'POST', url: `/v1/ops/resource/${how}` }, async (request) => {
      const { caller, body } = await readOperation(deps, request, parse);
      const relocation = toRelocation(body());
      if (isOfContents(relocation)) await deps.contents[how](caller, relocation);
      else await deps.applications[how](caller, relocation, request.id);
    });
  }
}

const parse = parserOf(RelocationRequest);

function toRelocation({ sourceUrl, destinationUrl, overwrite = false }: RelocationRequest): Relocation {
  const from = toItem('sourceUrl', sourceUrl);
  const to = toItem('destinationUrl', destinationUrl);
  if (from.kind !== to.kind) throw requestFault('destinationUrl', `must be one of the ${from.kind}, as sourceUrl is`);
  if (toUrl(from) === toUrl(to)) throw requestFault('destinationUrl', 'must be another place than sourceUrl');
  return { from, to, destinationUrl, replaces: overwrite };
}

function toItem(param: string, url: string): ResourcePlace {
  const place = fromUrl(url);
  if (place === undefined) throw requestFault(param, 'must be the url of something stored, {kind}/{bucket}/{path}');
  if (isFolder(place)) throw requestFault(param, 'must not be a folder: what lies in it is moved and copied one by one');
  if (isTooLong(place)) throw requestFault(param, `must have a path of ${maxNamedPathBytes} bytes of UTF-8 at most`);
  return place;
}

function isOfContents(relocation: Relocation<ResourceKind>): relocation is Relocation<ContentKind> {
  return relocation.from.kind !== 'applications';
}
