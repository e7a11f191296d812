import {
  type Answer,
  type ApiOperation,
  anyObject,
  buildArray,
  buildObject,
  json,
  type NamedSchema,
} from '../http/operations/operation.ts';

const reasons = buildArray(
  buildObject({ code: { type: 'string', description: 'A stable word for programs.' }, message: { type: 'string' } }),
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

const page = (description: string): Answer => ({
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
    summary: 'Whether the node lives, and what is wrong with it',
    description:
      'Always 200 while the node lives. `degraded` names its reasons: a refused configuration, a missing dependency, an upstream that is left alone, a store out of reach.',
    answers: [{ status: 200, description: 'The node lives.', content: json(health) }],
  },
  {
    method: 'get',
    path: '/ready',
    id: 'getReadiness',
    tag,
    isOpen: true,
    summary: 'Whether the node takes calls',
    answers: [
      { status: 200, description: 'The node takes calls.', content: json(readiness) },
      { status: 503, description: 'The node is starting or stopping.', content: json(readiness) },
    ],
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'getMetrics',
    tag,
    isOpen: true,
    summary: 'Metrics in the text format of Prometheus',
    description: 'Not served here if the metrics have a port of their own.',
    answers: [{ status: 200, description: 'The metrics.', content: [{ type: 'text/plain', schema: { type: 'string' } }] }],
    errors: ['route_not_found'],
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApi',
    tag,
    isOpen: true,
    summary: 'This description',
    answers: [{ status: 200, description: 'An OpenAPI 3.1 document.', content: json(anyObject) }],
  },
  {
    method: 'get',
    path: '/docs',
    id: 'getDocs',
    tag,
    isOpen: true,
    summary: 'This description as a page',
    answers: [page('The page.')],
  },
];
