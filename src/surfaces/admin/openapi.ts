import {
  type ApiOperation,
  anyObject,
  buildArray,
  buildObject,
  buildOptionalObject,
  buildPage,
  inQuery,
  json,
  type NamedSchema,
  type Schema,
} from '../http/openapi/operation.ts';
import { keyErrors } from '../http/openapi/operation-errors.ts';
import { outcomes } from './calls.ts';

const text = { type: 'string' };
const orNull = (type: string): Schema => ({ type: [type, 'null'] });
const moment = { type: 'integer', description: 'Milliseconds since the epoch.' };

const nextToken = { ...orNull('string'), description: 'For `token` of the next page; null after the last.' };

const amounts = {
  calls: { type: 'integer' },
  failedCalls: { type: 'integer', description: 'Those of them that failed for a fault of the service or of an upstream.' },
  refusedCalls: { type: 'integer', description: 'Those of them that were refused, such as for a limit.' },
  promptTokens: { type: 'integer' },
  completionTokens: { type: 'integer' },
  cost: { type: 'number', description: 'USD.' },
};

const usage: NamedSchema = {
  name: 'Usage',
  schema: buildObject({
    object: { const: 'list' },
    from: { ...text, description: 'The first day, in UTC.' },
    to: { ...text, description: 'The last day, included.' },
    by: { type: 'array', items: text },
    data: {
      type: 'array',
      description: 'Days in their order; without days the most costly first.',
      items: { type: 'object', properties: { day: text, deployment: text, user: text, project: text, ...amounts } },
    },
    total: { type: 'object', description: 'Of everything, also of what is cut off.', properties: amounts },
    isCut: { type: 'boolean', description: 'Whether there are more rows than `limit`.' },
  }),
};

const callsPage: NamedSchema = {
  name: 'Calls',
  schema: buildObject({
    object: { const: 'list' },
    from: { ...text, description: 'The first day, in UTC.' },
    to: { ...text, description: 'The last day, included.' },
    data: buildArray(
      buildOptionalObject({
        id: text,
        at: { ...moment, description: 'When it began, in milliseconds since the epoch.' },
        requestId: text,
        user: text,
        project: text,
        deployment: text,
        path: {
          type: 'array',
          items: text,
          description:
            'Ids of deployments, from the one that the caller asked to this one: more than one if an application called it.',
        },
        operation: { enum: ['chat', 'embeddings', 'passthrough'] },
        outcome: { enum: outcomes },
        status: { type: 'integer', description: 'Of the answer; 499 if the caller left before it.' },
        promptTokens: { type: 'integer' },
        completionTokens: { type: 'integer' },
        cost: { type: 'number', description: 'USD.' },
        durationMs: { type: 'number' },
        cacheReadTokens: { type: 'integer', description: 'Tokens of the prompt that came from the cache of the upstream.' },
        cacheWriteTokens: { type: 'integer', description: 'Tokens of the prompt that were written to it.' },
        cacheWrite1hTokens: { type: 'integer', description: 'Those of them that it keeps for an hour instead of 5 minutes.' },
        serviceTier: { type: 'string', description: 'Tier that the upstream served the call in.' },
        session: { type: 'string', description: 'Id of the session or conversation that the client named.' },
        key: {
          type: 'string',
          description: 'Id of the key that the user made for it. Absent: it came with a token, or a key of the configuration.',
        },
      }),
    ),
    nextToken,
  }),
};

const ratings: NamedSchema = {
  name: 'Ratings',
  schema: buildPage(
    buildObject({
      id: text,
      at: moment,
      deployment: orNull('string'),
      user: orNull('string'),
      rate: { type: ['boolean', 'number', 'null'] },
      comment: orNull('string'),
      responseId: orNull('string'),
      requestId: orNull('string'),
    }),
    nextToken,
  ),
};

const auditPage: NamedSchema = {
  name: 'AuditPage',
  schema: buildPage(
    buildObject({
      id: text,
      at: moment,
      action: { ...text, description: 'Such as `consent.accepted`.' },
      user: orNull('string'),
      object: orNull('string'),
      requestId: orNull('string'),
      details: anyObject,
    }),
    nextToken,
  ),
};

const reason: Schema = buildObject({ code: text, message: text });

const issue: Schema = buildObject({ file: text, path: text, message: text, hint: text, isNotice: { type: 'boolean' } }, [
  'hint',
  'isNotice',
]);

const upstream: Schema = buildOptionalObject({
  id: text,
  deployment: text,
  protocol: text,
  origin: { ...orNull('string'), description: 'Scheme, host and port of its address.' },
  region: orNull('string'),
  model: { ...text, description: 'Its own name of the model.' },
  weight: { type: 'number' },
  tier: { type: 'integer' },
  state: { enum: ['ok', 'rate_limited', 'failing'] },
  failuresInARow: { type: 'integer' },
  refusedStatus: {
    ...orNull('integer'),
    description:
      'The status of its last answer, if that refused what the service is configured with: 401, 402, 403 or 429. Null after one that it answered.',
  },
  lastError: {
    ...orNull('string'),
    description: 'Why the last failed call found no connection or no answer. Null after a call that succeeded.',
  },
  offUntil: { ...orNull('integer'), description: 'It is not asked before; null if it is asked.' },
});

const store: Schema = buildOptionalObject({
  holds: { enum: ['records', 'files', 'limits'] },
  kind: { enum: ['sqlite', 'postgres', 'disk', 's3', 'memory', 'redis'] },
  isAway: { type: 'boolean', description: 'Whether it is out of reach.' },
});

const state: NamedSchema = {
  name: 'NodeState',
  schema: buildObject({
    node: { type: 'object', properties: { version: text, runtime: text, startedAt: moment, now: moment } },
    health: buildOptionalObject({ status: { enum: ['ok', 'degraded'] }, reasons: { type: 'array', items: reason } }),
    hindrances: { type: 'array', description: 'Why the node takes no calls now.', items: reason },
    stores: { type: 'array', items: store },
    upstreams: { type: 'array', items: upstream },
    configuration: buildOptionalObject({
      files: { type: 'array', items: text },
      loadedAt: moment,
      refusedAt: {
        ...orNull('integer'),
        description: 'When changed files were refused; null if the last ones are in force.',
      },
      faults: { type: 'array', description: 'Of the files that were refused last.', items: issue },
      warnings: { type: 'array', items: issue },
    }),
  }),
};

const tag = 'Administration';
const adminErrors = [...keyErrors, 'access_denied'] as const;

const date = { schema: { type: 'string', format: 'date' } };

const days = [
  inQuery('from', 'The first day, such as `2026-11-01`, in UTC. Absent: 29 days before `to`.', {
    ...date,
    example: '2026-11-01',
  }),
  inQuery('to', 'The last day, included; at most 365 days later. Absent: today.', { ...date, example: '2026-11-30' }),
];

const format = inQuery(
  'format',
  '`csv`: a table with a header line. The header field `Parley-Next-Token` then has `nextToken`.',
  {
    schema: { enum: ['json', 'csv'], default: 'json' },
  },
);
const csv = { type: 'text/csv', schema: { type: 'string' } };

const filters = [
  inQuery('user', 'Only calls of a user.'),
  inQuery('key', 'Only calls with a key that its user created, by the ID of the key.'),
  inQuery('project', 'Only calls of a project. Empty: calls without one.'),
  inQuery('requestId', 'Only the calls of one request.'),
  inQuery('session', 'Only the calls of one session or conversation of a client.'),
];

const callsParameters = [
  ...days,
  format,
  inQuery('deployment', 'Only those of a deployment.'),
  inQuery('outcome', 'Only those that ended so: answered, refused for the own fault or a limit, failed, left by the caller.', {
    schema: { enum: outcomes },
  }),
  inQuery('token', '`nextToken` of the page before.'),
  inQuery('limit', 'How many at most.', { schema: { type: 'integer', minimum: 1, maximum: 500, default: 50 }, example: 10 }),
];

const usageParameters = (keys: string, by: string) => [
  ...days,
  format,
  inQuery('by', `What sums are told apart by, with commas between: ${keys}. Absent: \`day\`.`, {
    example: by,
    schema: toList(by.split(',')),
  }),
  inQuery('limit', 'How many rows at most.', {
    schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 1000 },
    example: 100,
  }),
];

function toList(values: readonly string[]): Schema {
  const word = `(${values.join('|')})`;
  return { type: 'string', pattern: `^${word}(,${word})*$` };
}

/** `/v1/admin/…`, `/v1/user/usage` and `/v1/user/calls`. */
export const adminOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/admin/usage',
    id: 'getUsage',
    tag,
    summary: 'What everybody used, summed up',
    description:
      'For the roles `admin` and `auditor`. Calls that applications make are part of the calls they answer: beside these they are counted only in sums by deployment. Costs are always those of all.',
    parameters: [
      inQuery('kind', '`rate`: what users thought of replies, the newest first, with `limit` and `token` as in the audit log.'),
      ...usageParameters('`day`, `deployment`, `user`, `project`', 'day,deployment,user,project'),
      inQuery('deployment', 'Only calls of a deployment.'),
      ...filters,
    ],
    answers: [{ status: 200, description: 'The sums, or the ratings.', content: [...json({ anyOf: [usage, ratings] }), csv] }],
    errors: [...adminErrors, 'invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/user/usage',
    id: 'getOwnUsage',
    tag: 'Limits',
    summary: 'What the caller used, summed up',
    parameters: usageParameters('`day`, `deployment`', 'day,deployment'),
    answers: [{ status: 200, description: 'The sums.', content: [...json(usage), csv] }],
    errors: [...adminErrors, 'invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/admin/calls',
    id: 'getCalls',
    tag,
    summary: 'Single calls of everybody, the newest first',
    description: 'For the roles `admin` and `auditor`: what the sums of usage are made of. Nothing of what was said.',
    parameters: [...callsParameters, ...filters],
    answers: [{ status: 200, description: 'A page.', content: [...json(callsPage), csv] }],
    errors: [...adminErrors, 'invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/user/calls',
    id: 'getOwnCalls',
    tag: 'Limits',
    summary: 'Single calls of the caller, the newest first',
    description: 'For every key and token of the own user. Nothing of what was said.',
    parameters: callsParameters,
    answers: [{ status: 200, description: 'A page.', content: [...json(callsPage), csv] }],
    errors: [...adminErrors, 'invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/admin/audit',
    id: 'getAudit',
    tag,
    summary: 'The audit log, the newest first',
    description: 'For the roles `admin` and `auditor`.',
    parameters: [
      inQuery('kind', 'Only one action, such as `consent.accepted`, or all that begin with its first part, such as `consent`.', {
        example: 'consent',
      }),
      inQuery('token', '`nextToken` of the page before.'),
      inQuery('limit', 'How many at most.', { schema: { type: 'integer', minimum: 1, maximum: 500, default: 50 }, example: 10 }),
    ],
    answers: [{ status: 200, description: 'A page.', content: json(auditPage) }],
    errors: [...adminErrors, 'invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/admin/state',
    id: 'getState',
    tag,
    summary: 'The state of the node that answers',
    description:
      'For the roles `admin` and `auditor`: health, stores, upstreams with their back-off, and the configuration with its faults.',
    answers: [{ status: 200, description: 'Its state.', content: json(state) }],
    errors: adminErrors,
  },
];
