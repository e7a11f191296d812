import type { ErrorCode } from '#contract/errors/errors.ts';
import { ResponseEvent } from '#contract/responses/events.ts';
import { Compaction, ResponseObject } from '#contract/responses/response.ts';
import { CompactBody, InputTokensBody, ResponsesBody } from '#contract/responses/responses-request.ts';
import {
  type ApiOperation,
  type Content,
  inQuery,
  json,
  listOperations,
  type NamedSchema,
  nameObject,
  type Parameter,
  reply,
  toIdSuffix,
} from '../http/openapi/operation.ts';
import { bodyErrors, callErrors, keyErrors, limitErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames, weatherTool } from '../http/openapi/operation-examples.ts';
import { count } from '../http/openapi/shared-schemas.ts';

/** A base path of the Responses API. */
export interface ResponsesBase {
  /** Path prefix before `/responses`. */
  readonly base: string;
  /** Suffix of the operation IDs. */
  readonly suffix: string;
  /** Whether clients of Azure's older API send `api-version` here. */
  readonly acceptsVersion: boolean;
}

/** Returns `/v1`, and for each alias both `/{alias}/v1` and `/{alias}`, which Azure clients use. */
export function listResponsesBases(aliases: readonly string[]): ResponsesBase[] {
  const aliasBases = aliases.flatMap((alias): ResponsesBase[] => {
    const suffix = toIdSuffix(alias);
    return [
      { base: `/${alias}/v1`, suffix, acceptsVersion: false },
      { base: `/${alias}`, suffix: `${suffix}_azure`, acceptsVersion: true },
    ];
  });
  return [{ base: '/v1', suffix: 'V1', acceptsVersion: false }, ...aliasBases];
}

const responsesRequest: NamedSchema = { name: 'ResponsesRequest', schema: ResponsesBody };
const inputTokensRequest: NamedSchema = { name: 'InputTokensRequest', schema: InputTokensBody };
const compactRequest: NamedSchema = { name: 'CompactRequest', schema: CompactBody };
const compaction: NamedSchema = { name: 'Compaction', schema: Compaction };
export const response: NamedSchema = { name: 'Response', schema: ResponseObject };
export const event: NamedSchema = { name: 'ResponseEvent', schema: ResponseEvent };

const inputTokens = nameObject('InputTokens', {
  object: { const: 'response.input_tokens' },
  input_tokens: count,
});

const inputTokensErrors: readonly ErrorCode[] = [
  ...keyErrors,
  ...bodyErrors,
  'call_depth_exceeded',
  'invalid_encrypted_content',
  'previous_response_not_found',
  'conversation_not_found',
  ...callErrors,
];
const createResponseErrors: readonly ErrorCode[] = [
  ...inputTokensErrors,
  'conversation_locked',
  'control_not_offered',
  'context_length_exceeded',
  ...limitErrors,
];

const description =
  'If the upstream supports the Responses API, Parley forwards the request. Otherwise, if the deployment supports chat, Parley translates the request and the reply. The response header `parley-ignored` lists omitted fields. ' +
  'With `stream: true`, the response is a stream of events, followed by `data: [DONE]`.';

/** Returns the operations of the Responses API for all paths. */
export function responsesOperations(aliases: readonly string[]): ApiOperation[] {
  return listResponsesBases(aliases).flatMap(toOperations);
}

const versionInQuery = inQuery('api-version', 'Accepted for Azure clients and ignored.');

const responseContent = [...json(response), { type: 'text/event-stream', schema: event }];

function describeCreation(suffix: string, parameters: readonly Parameter[]) {
  return {
    id: `createResponse_${suffix}`,
    summary: 'Create a response',
    description,
    parameters,
    body: json(responsesRequest, toExamples()),
    responses: [{ status: 200, description: 'The response or its events.', content: responseContent }],
    errors: createResponseErrors,
  };
}

/** A path that names the deployment. */
interface DeploymentPath {
  readonly path: string;
  readonly suffix: string;
  readonly toParameters: (deployment: string) => readonly Parameter[];
}

/** Returns the operation that creates a response on a path that names the deployment. */
export function buildDeploymentResponseOperation({ path, suffix, toParameters }: DeploymentPath): ApiOperation {
  return {
    ...{ method: 'post', path: path.replace('{operation}', 'responses'), tag: 'Responses' },
    ...describeCreation(`${suffix}_deployment`, toParameters(exampleNames.chat)),
    errors: [...createResponseErrors, 'invalid_api_version'],
  };
}

function toOperations({ base, suffix, acceptsVersion }: ResponsesBase): ApiOperation[] {
  const path = `${base}/responses`;
  return listOperations(
    { tag: 'Responses' },
    {
      [`post ${path}`]: describeCreation(suffix, acceptsVersion ? [versionInQuery] : []),
      [`post ${path}/input_tokens`]: {
        id: `countInputTokens_${suffix}`,
        summary: 'Count the tokens of a request',
        description: 'The count is an estimate unless the upstream counts the tokens. The request is free of charge.',
        body: json(inputTokensRequest, { text: { summary: 'A text', value: { model: exampleNames.chat, input: 'Hello' } } }),
        responses: [reply(200, 'The token count.', inputTokens)],
        errors: inputTokensErrors,
      },
      [`post ${path}/compact`]: {
        id: `compactResponse_${suffix}`,
        summary: 'Summarize a conversation',
        description:
          'The response contains an encrypted item that replaces the summarized items. The request is billed like a response.',
        body: json(compactRequest, {
          text: { summary: 'A text', value: { model: exampleNames.chat, input: 'I live in Oslo.' } },
        }),
        responses: [reply(200, 'The item and its token usage.', compaction)],
        errors: createResponseErrors,
      },
    },
  );
}

function toExamples(): Content['examples'] {
  const createExample = (input: unknown, extra: object = {}) => ({ model: exampleNames.chat, input, store: false, ...extra });
  return {
    text: { summary: 'Response as one JSON document', value: createExample('Hello') },
    stream: { summary: 'Response as a stream', value: createExample('Count to 3', { stream: true }) },
    extensions: {
      summary: 'Response with stages, attachments, controls, and statistics',
      value: createExample('Show me everything', {
        include: ['parley:stages', 'parley:attachments', 'parley:controls', 'parley:statistics'],
      }),
    },
    tool: {
      summary: 'Tool that the client runs',
      value: createExample('What is the weather in the city Oslo?', { tools: [{ type: 'function', ...weatherTool }] }),
    },
  };
}
