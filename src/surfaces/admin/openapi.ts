import {
  anyObject,
  buildArray,
  buildObject,
  buildOptionalObject,
  buildPage,
  inPath,
  inQuery,
  json,
  listOperations,
  moment,
  nameObject,
  nameSchema,
  nextToken,
  orNull,
  pageToken,
  reply,
  type Schema,
  text,
} from '../http/openapi/operation.ts';
import { keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames } from '../http/openapi/operation-examples.ts';
import { outcomes } from './calls.ts';
import { formats } from './export.ts';

const listPaging = (items: string) => [
  pageToken,
  inQuery('limit', `Maximum number of ${items}.`, {
    schema: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
    example: 10,
  }),
];

/** Parameters of lists in pages. */
export const paging = listPaging('items');

const amounts = {
  calls: { type: 'integer' },
  failedCalls: { type: 'integer', description: 'Calls that failed because of an error of Parley or an upstream.' },
  refusedCalls: { type: 'integer', description: 'Calls that were rejected, for example because of a limit.' },
  promptTokens: { type: 'integer' },
  completionTokens: { type: 'integer' },
  cost: { type: 'number', description: 'USD.' },
};

const usage = nameObject('Usage', {
  object: { const: 'list' },
  from: { ...text, description: 'The first day, in UTC.' },
  to: { ...text, description: 'The last day (inclusive), in UTC.' },
  by: buildArray(text),
  data: {
    type: 'array',
    description: 'Ordered by day. If `by` has no `day`, the highest cost comes first.',
    items: {
      type: 'object',
      additionalProperties: orNull('string', 'Value of a tag, by `tag:` and its name.'),
      properties: { day: text, deployment: text, user: text, project: text, key: orNull('string'), session: text, ...amounts },
    },
  },
  total: { type: 'object', description: 'Totals of all rows, including rows beyond `limit`.', properties: amounts },
  isCut: { type: 'boolean', description: 'Whether there are more rows than `limit`.' },
});

const callFields = {
  id: text,
  at: { ...moment, description: 'Start of the call, in milliseconds since the epoch.' },
  requestId: text,
  user: text,
  project: text,
  deployment: text,
  path: {
    type: 'array',
    items: text,
    description:
      'IDs of deployments, from the one that the client called to this one. An inner call of an application has more than one.',
  },
  operation: { enum: ['chat', 'embeddings', 'passthrough'] },
  outcome: { enum: outcomes },
  status: { type: 'integer', description: 'Status of the response. 499 if the client disconnected before the response.' },
  promptTokens: { type: 'integer' },
  completionTokens: { type: 'integer' },
  cost: { type: 'number', description: 'USD.' },
  durationMs: { type: 'number' },
  cacheReadTokens: { type: 'integer', description: 'Prompt tokens that the upstream read from its cache.' },
  cacheWriteTokens: { type: 'integer', description: 'Prompt tokens that the upstream wrote to its cache.' },
  cacheWrite1hTokens: {
    type: 'integer',
    description: 'Tokens of `cacheWriteTokens` that the upstream caches for 1 hour instead of 5 minutes.',
  },
  serviceTier: { type: 'string', description: 'Service tier of the upstream for the call.' },
  session: { type: 'string', description: 'ID of the session or conversation, as the client sent it.' },
  tags: { type: 'object', additionalProperties: text, description: 'Tags of the request and of its project.' },
  key: {
    type: 'string',
    description: 'ID of the key. Absent if the call had a token, or a configured key whose name is the secret.',
  },
};

const callsPage = nameObject('Calls', {
  object: { const: 'list' },
  from: { ...text, description: 'The first day, in UTC.' },
  to: { ...text, description: 'The last day (inclusive), in UTC.' },
  data: buildArray(buildOptionalObject(callFields)),
  nextToken,
});

const callWithContent = nameSchema(
  'Call',
  buildOptionalObject({
    object: { const: 'call' },
    ...callFields,
    content: {
      ...orNull('object'),
      description:
        'Request and reply in the format of chat completions. Null if no content is stored. Absent for callers without the role `admin`.',
      properties: {
        request: { ...anyObject, description: 'Request of the client.' },
        reply: orNull('object', 'The reply, or its part before an error. Null if none started.'),
        isTruncated: { type: 'boolean', description: 'Whether values were truncated. Each of them contains a mark.' },
      },
    },
  }),
);

const ratings = nameSchema(
  'Ratings',
  buildPage(
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
  ),
);

const auditPage = nameSchema(
  'AuditPage',
  buildPage(
    buildObject({
      id: text,
      at: moment,
      action: { ...text, description: 'Action, such as `consent.accepted`.' },
      user: orNull('string'),
      object: orNull('string'),
      requestId: orNull('string'),
      details: anyObject,
    }),
  ),
);

const reason: Schema = buildObject({ code: text, message: text });

const issue: Schema = buildObject({ file: text, path: text, message: text, hint: text, isNotice: { type: 'boolean' } }, [
  'hint',
  'isNotice',
]);

const upstream: Schema = buildOptionalObject({
  id: text,
  deployment: text,
  displayName: orNull('string', 'Name of the deployment for users.'),
  protocol: text,
  origin: orNull('string', 'Scheme, host, and port of its URL.'),
  region: orNull('string'),
  model: { ...text, description: 'Name of the model at the upstream.' },
  weight: { type: 'number' },
  tier: { type: 'integer' },
  parallel: orNull('integer', 'Calls in progress, if `maxParallel` is set.'),
  maxParallel: orNull('integer'),
  state: { enum: ['ok', 'rate_limited', 'failing'] },
  failuresInARow: { type: 'integer' },
  refusedStatus: orNull(
    'integer',
    'Status of the last response if it rejected the configured credentials, plan, or rate: 401, 402, 403, or 429. Null after a successful response.',
  ),
  lastError: orNull('string', 'Reason that the last failed call got no connection or no response. Null after a successful call.'),
  offUntil: orNull(
    'integer',
    'Time until which the upstream is paused, in milliseconds since the epoch. Null if it is not paused.',
  ),
});

const store: Schema = buildOptionalObject({
  holds: { enum: ['records', 'files', 'limits'] },
  kind: { enum: ['sqlite', 'postgres', 'disk', 's3', 'memory', 'redis'] },
  isAway: { type: 'boolean', description: 'Whether the store is unreachable.' },
});

const state = nameObject('NodeState', {
  node: { type: 'object', properties: { version: text, runtime: text, startedAt: moment, now: moment } },
  health: buildOptionalObject({ status: { enum: ['ok', 'degraded'] }, reasons: buildArray(reason) }),
  hindrances: { type: 'array', description: 'Reasons that the node is not ready for calls.', items: reason },
  stores: buildArray(store),
  upstreams: buildArray(upstream),
  queues: {
    type: 'array',
    description: 'Number of calls that wait because every upstream of their deployment is full.',
    items: buildObject({
      ...{ deployment: text, size: { type: 'integer' } },
      waitTime: { type: 'integer', description: 'Wait of the call that waits longest, in milliseconds.' },
    }),
  },
  configuration: buildOptionalObject({
    files: buildArray(text),
    loadedAt: moment,
    refusedAt: orNull('integer', 'When changed files were rejected. Null if the latest files are in effect.'),
    faults: { type: 'array', description: 'Errors in the files that were last rejected.', items: issue },
    warnings: buildArray(issue),
  }),
});

const nodeHealth: Schema = buildObject({
  id: { ...text, description: 'Name of the node. It is new after each start.' },
  version: { ...text, description: 'Version of Parley.' },
  host: { ...text, description: 'Host name of the machine or container.' },
  startedAt: moment,
  status: { enum: ['ok', 'degraded'] },
  reasons: { type: 'array', description: 'The first 100 reasons of `/health`.', items: reason },
  hindrances: { type: 'array', description: 'Reasons that the node is not ready for calls.', items: reason },
  configuration: buildObject({
    loadedAt: moment,
    refusedAt: orNull('integer'),
    faults: { type: 'array', description: 'Errors in the files that were last rejected.', items: issue },
    isDifferent: { type: 'boolean', description: 'Whether the files of the node differ from those in effect.' },
  }),
});

const date = { type: 'string', format: 'date' };
const days = [
  inQuery('from', 'The first day, such as `2026-11-01`, in UTC. The default is 29 days before `to`.', {
    schema: date,
    example: '2026-11-01',
  }),
  inQuery('to', 'The last day (inclusive), at most 365 days after `from`. The default is today.', {
    schema: date,
    example: '2026-11-30',
  }),
];

const format = inQuery(
  'format',
  'With `csv` or `jsonl`, the response is a stream of all rows of the range. CSV has a header line. With `limit` or `token`, it is one page. The response header `Parley-Next-Token` then contains `nextToken`.',
  { schema: { enum: formats, default: 'json' } },
);
const tables = ['text/csv', 'application/jsonl'].map((type) => ({ type, schema: text }));

const filters = [
  inQuery('user', 'Only calls of a user.'),
  inQuery('key', 'Only calls with a key, by the ID of the key.'),
  inQuery('project', 'Only calls of a project. Empty: calls without one.'),
  inQuery('requestId', 'Only the calls of one request.'),
  inQuery('session', 'Only the calls of one session or conversation of a client.'),
];

const callsParameters = [
  ...days,
  format,
  inQuery('deployment', 'Only calls of a deployment.'),
  inQuery(
    'outcome',
    'Only calls with an outcome: `ok`, `refused` (rejected because of the client or a limit), `failed`, or `left` (the client disconnected).',
    { schema: { enum: outcomes } },
  ),
  ...listPaging('calls'),
];

const inStatus = inQuery('status', 'Only calls with this HTTP status.', {
  schema: { type: 'integer', minimum: 100, maximum: 599 },
  example: 429,
});

const usageParameters = (keys: string, by: string, words: readonly string[] = by.split(',')) => [
  ...days,
  format,
  inQuery('by', `Keys to group by, separated by commas: ${keys}. The default is \`day\`.`, {
    example: by,
    schema: toList(words),
  }),
  inQuery(
    'direct',
    'With `true`, sums by deployment omit the number and the tokens of inner calls, but not their cost. They then add up to the total.',
    { schema: { type: 'boolean' } },
  ),
  inQuery('limit', 'Maximum number of rows.', {
    schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 1000 },
    example: 100,
  }),
];

function toList(values: readonly string[]): Schema {
  const word = `(${values.join('|')})`;
  return { type: 'string', pattern: `^${word}(,${word})*$` };
}

const shared = { tag: 'Administration', errors: [...keyErrors, 'access_denied'] } as const;

/** `/v1/admin/…`, `/v1/user/usage` and `/v1/user/calls`. */
export const adminOperations = listOperations(shared, {
  'get /v1/admin/usage': {
    id: 'getUsage',
    summary: 'Returns the usage of all users',
    description:
      'For the roles `admin` and `auditor`. Calls that an application makes to answer are part of the call to the application. They are counted separately only in sums by deployment. Costs always include all calls.',
    parameters: [
      inQuery(
        'kind',
        'With `rate`, the response lists the ratings of replies, newest first, with `limit` and `token` as in the audit log.',
      ),
      ...usageParameters(
        '`day`, `deployment`, `user`, `project`, `key`, `session`, and up to four tags such as `tag:team`',
        'day,deployment,user,project,session',
        ['day', 'deployment', 'user', 'project', 'key', 'session', 'tag:[\\w.:/@-]+'],
      ),
      inQuery('deployment', 'Only calls of a deployment.'),
      ...filters,
    ],
    responses: [
      { status: 200, description: 'The usage, or the ratings.', content: [...json({ anyOf: [usage, ratings] }), ...tables] },
    ],
    errors: ['invalid_request'],
  },
  'get /v1/user/usage': {
    id: 'getOwnUsage',
    tag: 'Limits',
    summary: 'Returns the usage of the caller',
    parameters: usageParameters('`day`, `deployment`', 'day,deployment'),
    responses: [{ status: 200, description: 'The usage.', content: [...json(usage), ...tables] }],
    errors: ['invalid_request'],
  },
  'get /v1/admin/calls': {
    id: 'getCalls',
    summary: 'Lists the calls of all users, newest first',
    description: 'For the roles `admin` and `auditor`. Usage is the sum of these calls. They have no content.',
    parameters: [...callsParameters, inStatus, ...filters],
    responses: [{ status: 200, description: 'A page.', content: [...json(callsPage), ...tables] }],
    errors: ['invalid_request'],
  },
  'get /v1/admin/calls/{id}': {
    id: 'getCall',
    summary: 'Returns a call',
    description:
      'For the roles `admin` and `auditor`. Only `admin` receives the content, if `records.content` is `sealed`. The audit log records each reading of content as `call.content_read`.',
    parameters: [inPath('id', 'ID of the call.', exampleNames.call)],
    responses: [reply(200, 'The call.', callWithContent)],
    errors: ['invalid_request', 'call_not_found'],
  },
  'get /v1/user/calls': {
    id: 'getOwnCalls',
    tag: 'Limits',
    summary: 'Lists the calls of the caller, newest first',
    description: 'Covers every key and token of the user. The calls have no content.',
    parameters: callsParameters,
    responses: [{ status: 200, description: 'A page.', content: [...json(callsPage), ...tables] }],
    errors: ['invalid_request'],
  },
  'get /v1/admin/audit': {
    id: 'getAudit',
    summary: 'Returns the audit log, newest first',
    description: 'For the roles `admin` and `auditor`.',
    parameters: [
      inQuery('kind', 'Only an action such as `consent.accepted`, or all actions with a first part such as `consent`.', {
        example: 'consent',
      }),
      ...listPaging('records'),
    ],
    responses: [reply(200, 'A page.', auditPage)],
    errors: ['invalid_request'],
  },
  'get /v1/admin/state': {
    id: 'getState',
    summary: 'Returns the state of the node that answers',
    description:
      'For the roles `admin` and `auditor`. The state has the health, the stores, the upstreams with their back-off, and the configuration with its errors.',
    responses: [reply(200, 'The state of the node.', state)],
  },
  'get /v1/admin/health': {
    id: 'listNodes',
    summary: 'Returns the version and the errors of each running node',
    description:
      'For the roles `admin` and `auditor`. The first node is the one that answers. The states of all other nodes are at most 4 s old. A node that was killed is listed for up to 15 s.',
    responses: [reply(200, 'The nodes.', nameObject('NodeList', { object: { const: 'list' }, data: buildArray(nodeHealth) }))],
    errors: ['invalid_request'],
  },
});
