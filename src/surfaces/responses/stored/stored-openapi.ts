import type { ErrorCode } from '#contract/errors/errors.ts';
import {
  type ApiOperation,
  buildArray,
  buildObject,
  inPath,
  inQuery,
  json,
  listOperations,
  type NamedSchema,
  nameObject,
  nameSchema,
  type OperationTable,
  orNull,
  reply,
  type Schema,
  text,
} from '../../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../../http/openapi/operation-errors.ts';
import { exampleNames } from '../../http/openapi/operation-examples.ts';
import { count } from '../../http/openapi/shared-schemas.ts';
import { event, listResponsesBases, response } from '../openapi.ts';

const item = nameSchema('StoredItem', {
  type: 'object',
  required: ['id', 'type'],
  properties: { id: text, type: text },
  additionalProperties: true,
});
const toPageSchema = (pageItem: NamedSchema): Schema =>
  buildObject({
    object: { const: 'list' },
    data: buildArray(pageItem),
    first_id: orNull('string'),
    last_id: orNull('string'),
    has_more: { type: 'boolean' },
  });
const itemList: NamedSchema = { name: 'StoredItemList', schema: toPageSchema(item) };
const buildDeletedSchema = (object: string): Schema =>
  buildObject({ id: text, object: { const: object }, deleted: { type: 'boolean' } });
const conversation = nameObject('StoredConversation', {
  id: text,
  object: { const: 'conversation' },
  created_at: { type: 'integer', description: 'Seconds since the epoch.' },
  metadata: { type: 'object', additionalProperties: text },
});
const items: Schema = { type: 'array', maxItems: 20, items: { type: 'object' }, description: 'Items as in a request.' };
const metadata: Schema = {
  type: 'object',
  maxProperties: 16,
  additionalProperties: { type: 'string', maxLength: 512 },
  description: 'Up to 16 strings of up to 512 characters.',
};
const newConversation: NamedSchema = { name: 'NewConversation', schema: { type: 'object', properties: { items, metadata } } };
const conversationUpdate: NamedSchema = { name: 'ChangedConversation', schema: { type: 'object', properties: { metadata } } };
const newItems: NamedSchema = { name: 'NewItems', schema: { type: 'object', required: ['items'], properties: { items } } };

const errors: readonly ErrorCode[] = ['response_not_found'];
/**
 * Errors of item routes. `/v1/conversations/{bucket}/{path}` has the same form, so an ID without `conv_` is a bucket, and the
 * caller may lack access to it.
 */
const itemErrors: readonly ErrorCode[] = [...errors, 'access_denied'];
const updateErrors: readonly ErrorCode[] = [...errors, ...bodyErrors];
const include = inQuery('include', 'Additional fields, such as `reasoning.encrypted_content`. Repeatable.');
const limit = inQuery('limit', 'Number of items, from 1 to 100. Default: 20.', {
  schema: { type: 'integer', minimum: 1, maximum: 100 },
});
const paging = [
  limit,
  inQuery('order', '`asc` for oldest first, `desc` for newest first. Default: `desc`.', {
    schema: { type: 'string', enum: ['asc', 'desc'] },
  }),
  inQuery('after', 'ID of an item. Returns only later items of the list.'),
  inQuery('before', 'ID of an item. Returns only earlier items of the list.'),
  include,
];
const responseParam = inPath('response', 'ID of a response.', exampleNames.response);
const conversationParam = inPath('conversation', 'ID of a conversation.', exampleNames.responsesConversation);
const itemParam = inPath('item', 'ID of an item.', exampleNames.item);

const shared = { tag: 'Responses', errors: keyErrors } as const;

/** Returns the operations of stored responses and conversations for all paths, and the list of background responses. */
export function storedOperations(aliases: readonly string[]): ApiOperation[] {
  const resourceOperations = listResponsesBases(aliases).flatMap(({ base, suffix, acceptsVersion }) => {
    // Azure's older API with `api-version` has no conversations.
    const conversations = acceptsVersion ? {} : describeConversations(`${base}/conversations`);
    const operations = listOperations(shared, { ...describeResponses(`${base}/responses/{response}`), ...conversations });
    return operations.map((operation) => ({ ...operation, id: `${operation.id}_${suffix}` }));
  });
  return [...resourceOperations, ...backgroundList];
}

const summary = nameObject('BackgroundResponse', {
  id: text,
  object: { const: 'response' },
  status: { enum: ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] },
  created_at: { type: 'integer', description: 'Seconds since the epoch.' },
  completed_at: orNull('integer', 'Seconds since the epoch.'),
  model: text,
  background: { type: 'boolean' },
  error: { type: ['object', 'null'], required: ['code', 'message'], properties: { code: text, message: text } },
  asked: orNull('string', 'Start of the last user message in the input: up to 200 characters.'),
});
const summaries: NamedSchema = { name: 'BackgroundResponseList', schema: toPageSchema(summary) };

/** Operation that Parley's web page uses to list background responses. */
const backgroundList = listOperations(shared, {
  'get /v1/user/responses': {
    id: 'listBackgroundResponses',
    summary: 'List the background responses of the caller, newest first',
    parameters: [limit, inQuery('after', 'ID of a response. Returns only later items of the list.')],
    responses: [reply(200, 'A page.', summaries)],
    errors: ['invalid_request', 'access_denied'],
  },
});

function describeResponses(path: string): OperationTable {
  return {
    [`get ${path}`]: {
      id: 'getResponse',
      summary: 'Get a stored response or its events',
      description:
        'With `stream=true`, the response contains the events of a background response after `starting_after`, until it ends.',
      parameters: [
        responseParam,
        include,
        inQuery('stream', 'Whether to return the events.', { schema: { type: 'boolean' } }),
        inQuery('starting_after', 'Sequence number of an event.', { schema: count }),
      ],
      responses: [
        { status: 200, description: 'The response.', content: [...json(response), { type: 'text/event-stream', schema: event }] },
      ],
      errors: [...errors, 'invalid_request'],
    },
    [`delete ${path}`]: {
      id: 'deleteResponse',
      summary: 'Delete a stored response, even if it is in progress',
      parameters: [responseParam],
      responses: [reply(200, 'The object was deleted.', buildDeletedSchema('response'))],
      errors,
    },
    [`post ${path}/cancel`]: {
      id: 'cancelResponse',
      summary: 'Cancel a background response',
      parameters: [responseParam],
      responses: [reply(200, 'The canceled response.', response)],
      errors: [...errors, 'invalid_request'],
    },
    [`get ${path}/input_items`]: {
      id: 'listInputItems',
      summary: 'List the input items of a response, including those of earlier responses',
      parameters: [responseParam, ...paging],
      responses: [reply(200, 'A page.', itemList)],
      errors: [...errors, 'invalid_request'],
    },
  };
}

function describeConversations(base: string): OperationTable {
  const path = `${base}/{conversation}`;
  const list = `${path}/items`;
  const responses = [reply(200, 'The conversation.', conversation)] as const;
  const page = [reply(200, 'A page.', itemList)] as const;
  const hello = { items: [{ role: 'user', content: 'Hello' }] };
  return {
    [`post ${base}`]: {
      id: 'createConversation',
      summary: 'Create a conversation',
      body: json(newConversation, {
        begun: { summary: 'With a first message', value: { ...hello, metadata: { topic: 'greetings' } } },
      }),
      isBodyOptional: true,
      responses,
      errors: bodyErrors,
    },
    [`get ${path}`]: {
      id: 'getConversation',
      summary: 'Get a conversation',
      parameters: [conversationParam],
      responses,
      errors,
    },
    [`post ${path}`]: {
      id: 'changeConversation',
      summary: 'Change the metadata of a conversation',
      parameters: [conversationParam],
      body: json(conversationUpdate, { topic: { summary: 'Another topic', value: { metadata: { topic: 'farewells' } } } }),
      responses,
      errors: updateErrors,
    },
    [`delete ${path}`]: {
      id: 'deleteConversation',
      summary: 'Delete a conversation and its items',
      parameters: [conversationParam],
      responses: [reply(200, 'The object was deleted.', buildDeletedSchema('conversation.deleted'))],
      errors,
    },
    [`get ${list}`]: {
      id: 'listConversationItems',
      summary: 'List the items of a conversation',
      parameters: [conversationParam, ...paging],
      responses: page,
      errors: [...itemErrors, 'invalid_request'],
    },
    [`post ${list}`]: {
      id: 'addConversationItems',
      summary: 'Add items to a conversation',
      parameters: [conversationParam, include],
      body: json(newItems, { hello: { summary: 'A message', value: hello } }),
      responses: page,
      errors: updateErrors,
    },
    [`get ${list}/{item}`]: {
      id: 'getConversationItem',
      summary: 'Get an item of a conversation',
      parameters: [conversationParam, itemParam, include],
      responses: [reply(200, 'The item.', item)],
      errors: itemErrors,
    },
    [`delete ${list}/{item}`]: {
      id: 'deleteConversationItem',
      summary: 'Delete an item of a conversation',
      parameters: [conversationParam, itemParam],
      responses,
      errors: itemErrors,
    },
  };
}
