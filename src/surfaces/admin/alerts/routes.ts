import type { FastifyInstance } from 'fastify';
import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { AlertDelivery, AlertStore } from '#domain/limits/alert-store.ts';
import { type ApiOperation, buildObject, buildPage, json, type Schema } from '../../http/openapi/operation.ts';
import { keyErrors } from '../../http/openapi/operation-errors.ts';
import { moment, nextToken, paging } from '../openapi.ts';
import { type Query, readLimit, readPlace, requireKnown, toToken } from '../query.ts';
import { requireAdmin } from '../routes.ts';

const limits = { most: 500, otherwise: 50 };

export interface AlertRouteDeps {
  readonly identify: Identify;
  readonly store: Pick<AlertStore, 'list'>;
}

/** Serves `/v1/admin/alerts`: the webhooks about limits, newest first. */
export function alertRoutes(app: FastifyInstance, { identify, store }: AlertRouteDeps): void {
  app.get('/v1/admin/alerts', async (request, reply) => {
    await requireAdmin({ identify }, request, reply, 'reads');
    const query = request.query as Query;
    requireKnown(query, ['limit', 'token']);
    const limit = readLimit(query, limits);
    const { atMs: beforeMs = Number.POSITIVE_INFINITY, id: beforeId = '' } = readPlace(query) ?? {};
    const stored = await store.list({ beforeMs, beforeId, limit: limit + 1 });
    const deliveries = stored.slice(0, limit);
    const last = stored.length > limit ? deliveries.at(-1) : undefined;
    return {
      object: 'list',
      data: deliveries.map(toItem),
      nextToken: last === undefined ? null : toToken({ atMs: last.createdAtMs, id: last.id }),
    };
  });
}

function toItem({ id, body, createdAtMs, status, attempts, nextAtMs, error }: AlertDelivery): object {
  const message = tryParseJson(body);
  const data = isJsonObject(message) && isJsonObject(message.data) ? message.data : {};
  return { id, at: createdAtMs, ...data, status, attempts, nextAttemptAt: status === 'pending' ? nextAtMs : null, error };
}

const text = { type: 'string' };
const orNull = (type: string): Schema => ({ type: [type, 'null'] });

/** `GET /v1/admin/alerts`. */
export const alertOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/admin/alerts',
    id: 'listAlerts',
    tag: 'Administration',
    summary: 'Returns the webhooks about limits',
    description: 'For the roles `admin` and `auditor`. Newest first. Parley stores them until 7 days after their period.',
    parameters: paging,
    responses: [
      {
        status: 200,
        description: 'The webhooks.',
        content: json({
          name: 'Alerts',
          schema: buildPage(
            buildObject(
              {
                id: { ...text, description: 'The `webhook-id` of all attempts.' },
                at: moment,
                of: { ...text, description: 'As in the alert.' },
                user: { ...text, description: 'The user, if the alert counts each user.' },
                window: { ...text, description: 'Window, such as `cost.month` or `tokens.day:gpt`.' },
                threshold: { type: 'number', description: 'Part of the limit, from 0 to 1.' },
                used: { type: 'number', description: 'Tokens, requests, or USD.' },
                limit: { type: 'number' },
                resetsAt: moment,
                status: { enum: ['pending', 'delivered', 'failed', 'canceled'] },
                attempts: { type: 'integer' },
                nextAttemptAt: orNull('integer'),
                error: { ...orNull('string'), description: 'Why the last attempt failed.' },
              },
              ['user'],
            ),
            nextToken,
          ),
        }),
      },
    ],
    errors: [...keyErrors, 'access_denied', 'invalid_request'],
  },
];
