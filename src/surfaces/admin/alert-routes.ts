import type { FastifyInstance } from 'fastify';
import { toObject, tryParseJson } from '#base/json/json.ts';
import type { AlertEntry } from '#contract/configuration/alerts.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { formatPath } from '#contract/configuration/issue.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { AlertDelivery, AlertState, AlertStore } from '#domain/limits/alert-store.ts';
import { toAlertId } from '#domain/limits/limit-alerts.ts';
import {
  buildObject,
  buildPage,
  listOperations,
  moment,
  nameObject,
  nameSchema,
  orNull,
  reply,
  text,
} from '../http/openapi/operation.ts';
import { keyErrors } from '../http/openapi/operation-errors.ts';
import { type Query, readLimit, readText, requireKnown } from '../http/query.ts';
import { paging } from './openapi.ts';
import { pageLimit, readPage, toPage } from './query.ts';
import { serveAdminRead } from './require-admin.ts';

export interface AlertRouteDeps {
  readonly identify: Identify;
  readonly store: Pick<AlertStore, 'list' | 'readStates'>;
  readonly snapshot: () => { readonly configuration: Pick<Configuration, 'alerts'> };
}

/** Serves `/v1/admin/alerts` (webhooks about limits, newest first) and `/v1/admin/configured-alerts` (alerts with their state). */
export function alertRoutes(app: FastifyInstance, deps: AlertRouteDeps): void {
  serveAdminRead(app, deps, '/v1/admin/configured-alerts', (query) => listConfigured(deps, query));
  serveAdminRead(app, deps, '/v1/admin/alerts', async (query) => {
    requireKnown(query, ['limit', 'token']);
    const { limit, ...before } = readPage(query);
    const stored = await deps.store.list({ ...before, limit: limit + 1 });
    return toPage(stored, limit, { toCursor: ({ createdAtMs: atMs, id }) => ({ atMs, id }), toItem });
  });
}

async function listConfigured({ store, snapshot }: AlertRouteDeps, query: Query): Promise<object> {
  requireKnown(query, ['limit', 'token']);
  const limit = readLimit(query, pageLimit);
  const token = readText(query, 'token') ?? '0';
  if (!/^\d{1,4}$/.test(token)) throw createRequestError('token', 'must be the nextToken of the previous page');
  const { alerts } = snapshot().configuration;
  const [start, end] = [Number(token), Number(token) + limit];
  const page = alerts.slice(start, end).map((alert) => ({ alert, id: toAlertId(alert) }));
  const states = await store.readStates(page.map(({ id }) => id));
  return {
    object: 'list',
    data: page.map(({ alert, id }, index) => toConfiguredItem(alert, start + index, states.get(id))),
    nextToken: end < alerts.length ? String(end) : null,
  };
}

/** Shows only the origin of the URL, because its path and query can contain secrets. */
function toConfiguredItem({ of, window, at, url }: AlertEntry, index: number, state: AlertState | undefined): object {
  const { lastFailure = null } = state ?? {};
  return {
    ...{ path: formatPath(['alerts', index]), of, window, at, server: new URL(url).origin },
    ...{ pending: state?.pending ?? 0, nextAttemptAt: state?.nextAttemptAtMs ?? null, lastSentAt: state?.lastSentAtMs ?? null },
    lastFailure: lastFailure && { at: lastFailure.atMs, error: lastFailure.error },
  };
}

function toItem({ id, body, createdAtMs, status, attempts, nextAtMs, error }: AlertDelivery): object {
  const data = toObject(toObject(tryParseJson(body)).data);
  return { id, at: createdAtMs, ...data, status, attempts, nextAttemptAt: status === 'pending' ? nextAtMs : null, error };
}

const configuredAlert = nameObject('ConfiguredAlert', {
  path: { ...text, description: 'Path in the configuration, such as `alerts[0]`.' },
  of: text,
  window: text,
  at: { type: 'array', items: { type: 'number' } },
  server: { ...text, description: 'Scheme, host, and port of the receiver.' },
  pending: { type: 'integer', description: 'Number of webhooks that wait for an attempt.' },
  nextAttemptAt: orNull('integer'),
  lastSentAt: orNull('integer', 'End of the last attempt that the receiver accepted.'),
  lastFailure: {
    ...buildObject({ at: orNull('integer'), error: text }),
    type: ['object', 'null'],
    description: 'Last failed attempt of the webhooks that are not delivered.',
  },
});

const shared = { tag: 'Administration', errors: [...keyErrors, 'access_denied', 'invalid_request'] } as const;

/** Operations of `alertRoutes`. */
export const alertOperations = listOperations(shared, {
  'get /v1/admin/configured-alerts': {
    id: 'listConfiguredAlerts',
    summary: 'Returns the configured alerts with the state of their webhooks',
    description: 'For the roles `admin` and `auditor`. In the order of the configuration. The state covers the last 7 days.',
    parameters: paging,
    responses: [reply(200, 'The alerts.', { name: 'ConfiguredAlerts', schema: buildPage(configuredAlert) })],
  },
  'get /v1/admin/alerts': {
    id: 'listAlerts',
    summary: 'Returns the webhooks about limits',
    description: 'For the roles `admin` and `auditor`. Newest first. Parley stores them until 7 days after their period.',
    parameters: paging,
    responses: [
      reply(
        200,
        'The webhooks.',
        nameSchema(
          'Alerts',
          buildPage(
            buildObject(
              {
                id: { ...text, description: 'The `webhook-id` of all attempts.' },
                at: moment,
                of: { ...text, description: 'Scope of the limit, as in the configured alert.' },
                user: { ...text, description: 'The user, if the alert counts each user.' },
                window: { ...text, description: 'Window, such as `cost.month` or `tokens.day:gpt`.' },
                threshold: { type: 'number', description: 'Fraction of the limit that was reached, from 0 to 1.' },
                used: { type: 'number', description: 'Tokens, requests, or USD.' },
                limit: { type: 'number' },
                resetsAt: moment,
                status: { enum: ['pending', 'delivered', 'failed', 'canceled'] },
                attempts: { type: 'integer' },
                nextAttemptAt: orNull('integer'),
                error: orNull('string', 'Reason of the last failed attempt.'),
              },
              ['user'],
            ),
          ),
        ),
      ),
    ],
  },
});
