import type { ErrorCode } from '#contract/errors/errors.ts';
import {
  buildArray,
  buildObject,
  json,
  listOperations,
  nameObject,
  nameSchema,
  orNull,
  reply,
  type Schema,
  text,
  unchangedAnswer,
} from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { inDeploymentPath } from '../http/openapi/operation-examples.ts';
import { count } from '../http/openapi/shared-schemas.ts';

const estimated: Schema = {
  type: 'boolean',
  description: 'Whether the count is an estimate. Absent if an application counted the tokens.',
};
const failure: Schema = buildObject({ status: { const: 'error' }, error: text });

const tokenizeRequest = nameObject('TokenizeRequest', {
  inputs: {
    type: 'array',
    maxItems: 1000,
    items: buildObject({
      type: { enum: ['string', 'request'] },
      value: { description: 'A text, or the body of a chat completion.' },
    }),
  },
});

const tokenCounts = nameSchema('TokenCounts', toOutputs({ token_count: count, estimated }, ['estimated']));

const truncateRequest = nameObject('TruncatePromptRequest', {
  inputs: { type: 'array', maxItems: 1000, description: 'Bodies of chat completions.', items: { type: 'object' } },
});

const discards = nameSchema('DiscardedMessages', toOutputs({ discarded_messages: buildArray(count) }));

const rating = nameObject(
  'Rating',
  {
    rate: { type: ['boolean', 'number'] },
    comment: { ...orNull('string'), maxLength: 10_000 },
    responseId: { ...orNull('string'), maxLength: 1000, description: '`id` of the reply.' },
  },
  ['comment', 'responseId'],
);

function toOutputs(properties: Readonly<Record<string, Schema>>, optional?: readonly string[]): Schema {
  const success = buildObject({ status: { const: 'success' }, ...properties }, optional);
  return buildObject({ outputs: buildArray({ anyOf: [success, failure] }) });
}

const errors: readonly ErrorCode[] = [
  ...keyErrors,
  ...bodyErrors,
  'access_denied',
  'deployment_not_found',
  'consent_required',
  'call_depth_exceeded',
];
const relayNote =
  'If the deployment has its own endpoint for this, Parley returns the response of that endpoint, or 502 if there is no response.';
const ratingBody = { body: json(rating, { good: { summary: 'Good reply', value: { rate: true } } }) } as const;
const ratingResponses = [reply(200, 'The rating is stored.', { type: 'object' }), unchangedAnswer];

const shared = { tag: 'Applications', errors } as const;

/** Operations that applications can implement themselves. */
export const featureOperations = listOperations(shared, {
  'post /v1/deployments/{id}/tokenize': {
    id: 'tokenize',
    summary: 'Count the tokens of texts and requests',
    description: `${relayNote} Otherwise Parley estimates the tokens of a model, and rejects the request for other deployments.`,
    parameters: [inDeploymentPath()],
    body: json(tokenizeRequest, { text: { summary: 'A text', value: { inputs: [{ type: 'string', value: 'Hello' }] } } }),
    responses: [reply(200, 'The counts, in the order of the inputs.', tokenCounts), unchangedAnswer],
  },
  'post /v1/deployments/{id}/truncate_prompt': {
    id: 'truncatePrompt',
    summary: 'Select messages to remove from requests that are too long',
    description: `${relayNote} The limit is \`max_prompt_tokens\` of the request, otherwise that of the model.`,
    parameters: [inDeploymentPath()],
    body: json(truncateRequest, {
      short: { summary: 'Short request', value: { inputs: [{ messages: [{ role: 'user', content: 'Hello' }] }] } },
    }),
    responses: [reply(200, 'Indexes of the messages to remove, in the order of the inputs.', discards), unchangedAnswer],
  },
  'post /v1/deployments/{id}/rate': {
    id: 'rateReply',
    summary: 'Rate a reply',
    description: relayNote,
    parameters: [inDeploymentPath()],
    ...ratingBody,
    responses: ratingResponses,
  },
  'post /v1/{id}/rate': {
    id: 'rateReply_short',
    summary: 'Rate a reply (shorter path)',
    parameters: [inDeploymentPath()],
    ...ratingBody,
    responses: ratingResponses,
  },
});
