import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ApiOperation } from '../http/openapi/operation.ts';
import { acceptsEncoding } from '../http/replies/header-fields.ts';
import { docsRoutes } from './docs-routes.ts';
import { toOpenApi } from './openapi-document.ts';

/** A problem for operators. The message never contains a secret, because `/health` requires no key. */
export interface Reason {
  /** Stable code for programs, such as `configuration_refused`. */
  readonly code: string;
  readonly message: string;
}

export interface OpsDeps {
  /** Version of the program. */
  readonly version: string;
  readonly uptimeSeconds: () => number;
  /** Returns problems of a node that still serves requests. Empty if the status is `ok`. */
  readonly listIssues: () => readonly Reason[] | Promise<readonly Reason[]>;
  /** Returns the reasons why the node does not accept calls. Empty if it is ready. */
  readonly listObstacles: () => readonly Reason[];
  /** Returns the metrics in the format that an `Accept` field selects. Undefined if the metrics have their own port. */
  readonly readMetrics:
    | ((accept: string | undefined) => Promise<{ readonly contentType: string; readonly text: string }>)
    | undefined;
  /** Operations of `/openapi.json`. */
  readonly operations: readonly ApiOperation[];
}

/** Registers `/health`, `/ready`, `/metrics`, `/openapi.json`, and `/docs`, which require no key (docs/operations.md). */
export function opsRoutes(app: FastifyInstance, deps: OpsDeps): void {
  const { readMetrics } = deps;
  app.get('/health', async (_request, reply) => {
    const reasons = await deps.listIssues();
    const uptimeSeconds = Math.round(deps.uptimeSeconds() * 10) / 10;
    return disableCaching(reply).send({
      status: reasons.length === 0 ? 'ok' : 'degraded',
      version: deps.version,
      uptimeSeconds,
      reasons,
    });
  });
  app.get('/ready', (_request, reply) => {
    const reasons = deps.listObstacles();
    const isReady = reasons.length === 0;
    return disableCaching(reply)
      .code(isReady ? 200 : 503)
      .send({ status: isReady ? 'ready' : 'not_ready', reasons });
  });
  if (readMetrics !== undefined)
    app.get('/metrics', async (request, reply) => {
      const { contentType, text } = await readMetrics(request.headers.accept);
      return disableCaching(reply).type(contentType).header('vary', 'accept').send(text);
    });
  let document: string | undefined;
  let compressed: Promise<Buffer> | undefined;
  app.get('/openapi.json', async (request, reply) => {
    document ??= JSON.stringify(toOpenApi(deps.operations, deps.version));
    reply
      .type('application/json; charset=utf-8')
      .headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-cache', vary: 'accept-encoding' });
    if (!acceptsEncoding(request.headers['accept-encoding'], 'gzip')) return reply.send(document);
    compressed ??= promisify(gzip)(document);
    return reply.header('content-encoding', 'gzip').send(await compressed);
  });
  docsRoutes(app);
}

function disableCaching(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store');
}
