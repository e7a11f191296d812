import {
  type ApiResponse,
  anyObject,
  buildArray,
  buildObject,
  listOperations,
  nameObject,
  reply,
} from '../http/openapi/operation.ts';

const reasons = buildArray(
  buildObject({ code: { type: 'string', description: 'Stable code for programs.' }, message: { type: 'string' } }),
);

const health = nameObject('Health', {
  status: { enum: ['ok', 'degraded'] },
  version: { type: 'string' },
  uptimeSeconds: { type: 'number' },
  reasons,
});

const readiness = nameObject('Readiness', { status: { enum: ['ready', 'not_ready'] }, reasons });

const page = (description: string): ApiResponse => ({
  status: 200,
  description,
  content: [{ type: 'text/html', schema: { type: 'string' } }],
});

const shared = { tag: 'Operations', isOpen: true } as const;

/** Operations of `/health`, `/ready`, `/metrics`, `/openapi.json`, and `/docs`. */
export const opsOperations = listOperations(shared, {
  'get /health': {
    id: 'getHealth',
    summary: 'Get the health of the node',
    description:
      'Always 200 while the node is running. `degraded` lists its reasons: a rejected configuration, a missing dependency, a paused upstream, or an unavailable store.',
    responses: [reply(200, 'The node is running.', health)],
  },
  'get /ready': {
    id: 'getReadiness',
    summary: 'Get the readiness of the node',
    responses: [reply(200, 'The node accepts calls.', readiness), reply(503, 'The node is starting or stopping.', readiness)],
  },
  'get /metrics': {
    id: 'getMetrics',
    summary: 'Get metrics in the Prometheus text format or OpenMetrics',
    description:
      'Returns OpenMetrics 1.0 if `Accept` names `application/openmetrics-text`. Not available here if the metrics have their own port.',
    responses: [
      {
        status: 200,
        description: 'The metrics.',
        content: ['text/plain', 'application/openmetrics-text'].map((type) => ({ type, schema: { type: 'string' } })),
      },
    ],
    errors: ['route_not_found'],
  },
  'get /openapi.json': {
    id: 'getOpenApi',
    summary: 'Get the OpenAPI document',
    responses: [reply(200, 'An OpenAPI 3.1 document.', anyObject)],
  },
  'get /docs': {
    id: 'getDocs',
    summary: 'Get the API reference as a page',
    responses: [page('The page.')],
  },
});
