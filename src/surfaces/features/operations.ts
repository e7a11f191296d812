import type { ErrorCode } from '#contract/errors/errors.ts';
import { type ApiOperation, asItCame, buildObject, json, type NamedSchema, type Schema } from '../http/operations/operation.ts';
import { bodyErrors, keyErrors } from '../http/operations/operation-errors.ts';
import { inDeploymentPath } from '../http/operations/operation-examples.ts';

const text: Schema = { type: 'string' };
const estimated: Schema = { type: 'boolean', description: 'Whether it is an estimate; absent if a program counted.' };
const failed: Schema = buildObject({ status: { const: 'error' }, error: text });

const tokenizeRequest: NamedSchema = {
  name: 'TokenizeRequest',
  schema: buildObject({
    inputs: {
      type: 'array',
      maxItems: 1000,
      items: buildObject({
        type: { enum: ['string', 'request'] },
        value: { description: 'A text, or the body of a chat completion.' },
      }),
    },
  }),
};

const tokenCounts: NamedSchema = {
  name: 'TokenCounts',
  schema: toOutputs({ token_count: { type: 'integer', minimum: 0 }, estimated }, ['token_count']),
};

const truncateRequest: NamedSchema = {
  name: 'TruncatePromptRequest',
  schema: buildObject({
    inputs: { type: 'array', maxItems: 1000, description: 'Bodies of chat completions.', items: { type: 'object' } },
  }),
};

const discarded: NamedSchema = {
  name: 'DiscardedMessages',
  schema: toOutputs({ discarded_messages: { type: 'array', items: { type: 'integer', minimum: 0 } } }, ['discarded_messages']),
};

const rating: NamedSchema = {
  name: 'Rating',
  schema: {
    type: 'object',
    required: ['rate'],
    properties: {
      rate: { type: ['boolean', 'number'] },
      comment: { type: ['string', 'null'], maxLength: 10_000 },
      responseId: { type: ['string', 'null'], maxLength: 1000, description: '`id` of the reply.' },
    },
  },
};

function toOutputs(properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema {
  const success: Schema = {
    type: 'object',
    required: ['status', ...required],
    properties: { status: { const: 'success' }, ...properties },
  };
  return buildObject({ outputs: { type: 'array', items: { anyOf: [success, failed] } } });
}

const errors: readonly ErrorCode[] = [
  ...keyErrors,
  ...bodyErrors,
  'access_denied',
  'deployment_not_found',
  'consent_required',
  'call_depth_exceeded',
];
const relayed = 'If the deployment has a program of its own for this, its answer is relayed; 502 if it gives none.';
const rate = { tag: 'Applications', body: json(rating, { good: { summary: 'A good reply', value: { rate: true } } }) } as const;
const rated = [{ status: 200, description: 'It is kept.', content: json({ type: 'object' }) }, asItCame];

/** Operations that applications can implement themselves. */
export const featureOperations: readonly ApiOperation[] = [
  {
    method: 'post',
    path: '/v1/deployments/{id}/tokenize',
    id: 'tokenize',
    tag: 'Applications',
    summary: 'Counts the tokens of texts and requests',
    description: `${relayed} Of a model without one they are estimated; other deployments refuse.`,
    parameters: [inDeploymentPath()],
    body: json(tokenizeRequest, { text: { summary: 'A text', value: { inputs: [{ type: 'string', value: 'Hello' }] } } }),
    answers: [{ status: 200, description: 'The counts, in the order of the inputs.', content: json(tokenCounts) }, asItCame],
    errors,
  },
  {
    method: 'post',
    path: '/v1/deployments/{id}/truncate_prompt',
    id: 'truncatePrompt',
    tag: 'Applications',
    summary: 'Says which messages to leave out of requests that are too long',
    description: `${relayed} The bound is \`max_prompt_tokens\` of the request, else that of the model.`,
    parameters: [inDeploymentPath()],
    body: json(truncateRequest, {
      short: { summary: 'A short one', value: { inputs: [{ messages: [{ role: 'user', content: 'Hello' }] }] } },
    }),
    answers: [
      { status: 200, description: 'Places of messages, in the order of the inputs.', content: json(discarded) },
      asItCame,
    ],
    errors,
  },
  {
    method: 'post',
    path: '/v1/deployments/{id}/rate',
    id: 'rateReply',
    summary: 'Takes what a user thinks of a reply',
    description: relayed,
    parameters: [inDeploymentPath()],
    ...rate,
    answers: rated,
    errors,
  },
  {
    method: 'post',
    path: '/v1/{id}/rate',
    id: 'rateReply_short',
    summary: 'The same at a shorter path',
    parameters: [inDeploymentPath()],
    ...rate,
    answers: rated,
    errors,
  },
];
