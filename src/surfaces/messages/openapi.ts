import { errorMeanings } from '#contract/errors/error-meanings.ts';
import { type ErrorCode, errorKinds } from '#contract/errors/errors.ts';
import { toMessagesError } from '#contract/messages/dialect.ts';
import { CountBody, MessagesBody } from '#contract/messages/messages-request.ts';
import {
  type ApiOperation,
  buildObject,
  type Content,
  type ErrorShape,
  inHeader,
  json,
  listOperations,
  type NamedSchema,
  nameObject,
  type Parameter,
  reply,
  toIdSuffix,
} from '../http/openapi/operation.ts';
import { bodyErrors, callErrors, keyErrors, limitErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames, inDeploymentPath } from '../http/openapi/operation-examples.ts';
import { message, messagesError, messagesEvent, messagesModel } from './reply-schema.ts';

const messagesRequest: NamedSchema = { name: 'MessagesRequest', schema: MessagesBody };
const countRequest: NamedSchema = { name: 'CountTokensRequest', schema: CountBody };

const tokenCount = nameObject('TokenCount', { input_tokens: { type: 'integer', minimum: 0 } });

const countErrors: readonly ErrorCode[] = [...keyErrors, ...bodyErrors, 'call_depth_exceeded', ...callErrors];
const messagesErrors: readonly ErrorCode[] = [...countErrors, 'control_not_offered', ...limitErrors];

const headers: readonly Parameter[] = [
  inHeader('anthropic-version', 'Optional version of the Messages API. `msgapi-version` is also accepted.', {
    example: '2023-06-01',
  }),
  inHeader('anthropic-beta', 'Forwarded to upstreams that support the Messages API.'),
  inHeader(
    'X-CORE-CACHE-POLICY',
    'With `cache-priority`, Parley sends a conversation to the same upstream if possible, to use its prompt cache.',
    { schema: { enum: ['availability-priority', 'cache-priority'] }, example: 'cache-priority' },
  ),
];

const description =
  'If the upstream supports the Messages API, Parley forwards the request and returns the reply unchanged. For other deployments, Parley translates both. The response header `parley-ignored` lists omitted fields. ' +
  'With `stream: true`, the response is a stream of events.';

/** Errors have a type instead of a code. The message contains the path of the invalid field. */
const errorShape: ErrorShape = { body: messagesError, describe };

function describe(code: ErrorCode): string {
  const { status } = errorKinds[code];
  const { type } = toMessagesError({ status, message: '', param: null }, '').error;
  return `\`${type}\`: ${errorMeanings[code].replace('`param` names it', 'the message begins with its path')}`;
}

/** Returns the operations below `msgapi` and below each alias. Aliases also have a list of models. */
export function messagesOperations(aliases: readonly string[]): ApiOperation[] {
  return [...toOperations('msgapi'), ...aliases.flatMap((alias) => [...toOperations(alias), ...toListings(alias)])];
}

function toOperations(prefix: string): ApiOperation[] {
  const path = `/${prefix}/v1/messages`;
  const shared = { tag: 'Messages', parameters: headers, errorShape, acceptsXApiKey: prefix !== 'msgapi' } as const;
  const content = [...json(message), { type: 'text/event-stream', schema: messagesEvent }];
  return listOperations(shared, {
    [`post ${path}`]: {
      id: `createMessage_${toIdSuffix(prefix)}`,
      summary: 'Create a message',
      description,
      body: json(messagesRequest, toMessageExamples()),
      responses: [{ status: 200, description: 'The message or its events.', content }],
      errors: messagesErrors,
    },
    [`post ${path}/count_tokens`]: {
      id: `countMessageTokens_${toIdSuffix(prefix)}`,
      summary: 'Count the tokens of a request',
      description:
        'The count comes from the upstream if it supports the Messages API. Otherwise, it is an estimate. The request is free of charge.',
      body: json(countRequest, {
        message: { summary: 'One message', value: { model: exampleNames.chat, messages: [{ role: 'user', content: 'Hello' }] } },
      }),
      responses: [reply(200, 'The token count.', tokenCount)],
      errors: countErrors,
    },
  });
}

function toListings(alias: string): ApiOperation[] {
  const path = `/${alias}/v1/models`;
  const id = { type: ['string', 'null'] };
  const list = buildObject({
    data: { type: 'array', items: messagesModel },
    has_more: { type: 'boolean', description: 'Always false, because the list is complete.' },
    first_id: id,
    last_id: id,
  });
  const shared = { tag: 'Messages', errors: keyErrors, errorShape, acceptsXApiKey: true } as const;
  return listOperations(shared, {
    [`get ${path}`]: {
      id: `listMessagesModels_${toIdSuffix(alias)}`,
      summary: 'List the available deployments in the format of the Messages API',
      responses: [reply(200, 'The list.', list)],
    },
    [`get ${path}/{id}`]: {
      id: `getMessagesModel_${toIdSuffix(alias)}`,
      summary: 'Get a deployment in the format of the Messages API',
      parameters: [inDeploymentPath()],
      responses: [reply(200, 'The deployment.', messagesModel)],
      errors: ['deployment_not_found', 'access_denied'],
    },
  });
}

function toMessageExamples(): Content['examples'] {
  const createExample = (content: string, extra: object = {}) => ({
    model: exampleNames.chat,
    max_tokens: 500,
    messages: [{ role: 'user', content }],
    ...extra,
  });
  const weather = {
    name: 'get_weather',
    description: 'Gives the weather of a city',
    input_schema: buildObject({ city: { type: 'string', description: 'Name of the city' } }),
  };
  return {
    message: { summary: 'Message as one JSON document', value: createExample('Hello') },
    stream: { summary: 'Message as a stream', value: createExample('Count to 3', { stream: true }) },
    everything: { summary: 'Message with stages, an attachment, and controls', value: createExample('Show me everything') },
    everythingStreamed: {
      summary: 'Stream with stages, an attachment, and controls',
      value: createExample('Show me everything', { stream: true }),
    },
    tool: {
      summary: 'Tool that the client runs',
      value: createExample('What is the weather in the city Oslo?', { tools: [weather] }),
    },
  };
}
