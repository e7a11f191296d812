import {
  type ApiOperation,
  type ApiResponse,
  anyObject,
  buildArray,
  buildObject,
  json,
  type NamedSchema,
} from '../http/openapi/operation.ts';

const reasons = buildArray(
  buildObject({ code: { type: 'string', description: 'Stable code for programs.' }, message: { type: 'string' } }),
);

const health: NamedSchema = {
  name: 'Health',
  schema: buildObject({
    status: { enum: ['ok', 'degraded'] },
    version: { type: 'string' },
    uptimeSeconds: { type: 'number' },
    reasons,
  }),
};

const readiness: NamedSchema = {
  name: 'Readiness',
  schema: buildObject({ status: { enum: ['ready', 'not_ready'] }, reasons }),
};

const page = (description: string): ApiResponse => ({
  status: 200,
  description,
  content: [{ type: 'text/html', schema: { type: 'string' } }],
});

const tag = 'Operations';

/** Operations of `/health`, `/ready`, `/metrics`, `/openapi.json`, and `/docs`. */
export const opsOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/health',
    id: 'getHealth',
    tag,
    isOpen: true,
    summary: 'Get the health of the node',
    description:
      'Always 200 while the node is running. `degraded` lists its reasons: a rejected configuration, a missing dependency, a paused upstream, or an unavailable store.',
    responses: [{ status: 200, description: 'The node is running.', content: json(health) }],
  },
  {
    method: 'get',
    path: '/ready',
    id: 'getReadiness',
    tag,
    isOpen: true,
    summary: 'Get the readiness of the node',
    responses: [
      { status: 200, description: 'The node accepts calls.', content: json(readiness) },
      { status: 503, description: 'The node is starting or stopping.', content: json(readiness) },
    ],
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'getMetrics',
    tag,
    isOpen: true,
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
  {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApi',
    tag,
    isOpen: true,
    summary: 'Get the OpenAPI document',
    responses: [{ status: 200, description: 'An OpenAPI 3.1 document.', content: json(anyObject) }],
  },
  {
    method: 'get',
    path: '/docs',
    id: 'getDocs',
    tag,
    isOpen: true,
    summary: 'Get the API reference as a page',
    responses: [page('The page.')],
  },
];
