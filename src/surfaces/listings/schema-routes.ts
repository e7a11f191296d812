import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '#contract/errors/errors.ts';
import { quickAppJsonSchema } from '#contract/quick-app/json-schema.ts';
import { isQuickAppSchemaId, quickAppSuffix } from '#contract/quick-app/schema-id.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { readCredentials } from '../http/read-request.ts';

/**
 * The JSON Schema of quick apps, by its id and at its own path. The path takes no key: an id is an address, which programs
 * that read schemas fetch as it is, and nothing in it is anybody's own.
 */
export function schemaRoutes(app: FastifyInstance, { identify }: { readonly identify: Identify }): void {
  app.get('/v1/application_type_schemas/schema', async (request, reply) => {
    await identify(readCredentials(request.raw), request.raw, 'accepts bound keys');
    return send(reply, idIn(request).slice(0, -quickAppSuffix.length));
  });
  app.get(quickAppSuffix, (_request, reply) => send(reply, ''));
}

function idIn({ query }: FastifyRequest): string {
  const { id } = query as Readonly<Record<string, unknown>>;
  const known = `the known one ends in ${quickAppSuffix}`;
  if (typeof id !== 'string')
    throw new ParleyError('invalid_request', `The query parameter id must name an application type; ${known}.`, { param: 'id' });
  if (!isQuickAppSchemaId(id))
    throw new ParleyError('route_not_found', `There is no application type of this id; ${known}.`, { param: 'id' });
  return id;
}

function send(reply: FastifyReply, base: string): FastifyReply {
  return reply.type('application/schema+json; charset=utf-8').send(JSON.stringify(quickAppJsonSchema(base)));
}
