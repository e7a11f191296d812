import type { ErrorCode } from '#contract/errors/errors.ts';
import { ChatPatch, ChatTurn, chatFlags, chatHeadFields } from '#contract/page/stored-chat.ts';
import {
  type ApiOperation,
  buildObject,
  inHeader,
  inPath,
  inQuery,
  json,
  type NamedSchema,
  type Schema,
} from '../http/operations/operation.ts';
import { bodyErrors, keyErrors } from '../http/operations/operation-errors.ts';
import { exampleNames } from '../http/operations/operation-examples.ts';

const revision: Schema = { type: 'integer', description: 'Higher with each change of anything of the user; the ETag.' };
const headFields = {
  ...{ id: { type: 'string' }, revision, updatedAtMs: { type: 'integer' } },
  ...chatFlags,
  ...chatHeadFields,
};
const required = ['id', 'revision', 'updatedAtMs', 'pinned', 'archived'];
const head: NamedSchema = { name: 'ChatHead', schema: { type: 'object', required, properties: headFields } };
const excerpt: Schema = { type: 'string', description: 'Of a search: a line of what was said, around the words.' };
const listedChat: NamedSchema = {
  name: 'ListedChat',
  schema: { type: 'object', required, properties: { ...headFields, excerpt } },
};
const deleted: NamedSchema = {
  name: 'DeletedChat',
  schema: buildObject({ id: { type: 'string' }, revision, deleted: { type: 'boolean' } }),
};
const chat: NamedSchema = {
  name: 'Chat',
  schema: {
    type: 'object',
    required: [...required, 'turns'],
    properties: { ...headFields, turns: { type: 'array', items: ChatTurn } },
    additionalProperties: true,
  },
};
const page: NamedSchema = {
  name: 'ChatPage',
  schema: buildObject({
    object: { const: 'list' },
    data: { type: 'array', items: listedChat },
    nextToken: { type: ['string', 'null'], description: 'For `token` of the next page; null behind the last.' },
    revision: { ...revision, description: 'What to follow changes from.' },
  }),
};
const changes: NamedSchema = {
  name: 'ChatChanges',
  schema: buildObject({
    object: { const: 'list' },
    data: { type: 'array', items: { oneOf: [head, deleted] } },
    revision: { ...revision, description: 'For `since` of the next request.' },
    hasMore: { type: 'boolean' },
    reset: { type: 'boolean', description: 'Too much was deleted since: forget everything and list anew.' },
  }),
};
const example = {
  title: 'Opening hours',
  deployment: 'demo',
  turns: [{ id: 'q1', parent: '', kind: 'question', atMs: 1_763_700_000_000, text: 'When is it open?' }],
};

const inChat = inPath(
  'chat',
  'Id of the chat, which its maker chooses: letters, digits, `_` and `-`, at most 64.',
  exampleNames.chatId,
);
const ifMatch = inHeader('If-Match', 'The ETag that the chat must have; `*`: it must be there.', { example: '*' });
const ifNoneMatch = inHeader('If-None-Match', '`*`: it must not be there.');
const limit = inQuery('limit', 'How many, 1 to 500; 100 if absent.', { schema: { type: 'integer', minimum: 1, maximum: 500 } });
const since = inQuery('since', 'A revision; what is higher is answered. Absent: everything.', {
  schema: { type: 'integer', minimum: 0 },
});
const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'route_not_found'];
const ofOne: readonly ErrorCode[] = [...errors, 'response_not_found'];

type Described = Omit<ApiOperation, 'tag'>;

const described: readonly Described[] = [
  {
    method: 'get',
    path: '/v1/chats',
    id: 'listChats',
    summary: 'Lists the chats of the user, pinned ones first, else the latest first; or looks for words in them',
    parameters: [
      limit,
      inQuery('token', '`nextToken` of the page before.'),
      inQuery('archived', 'Those that are archived in place of the others.', { schema: { type: 'boolean' } }),
      inQuery(
        'query',
        'Words, each of which must stand in the title, a tag or a turn. A page looks through a part and may be empty; go on as long as there is a `nextToken`.',
      ),
      inQuery('excerpts', 'Whether the first hundred that are found on a page have an `excerpt`.', {
        schema: { type: 'boolean' },
      }),
    ],
    answers: [{ status: 200, description: 'A page.', content: json(page) }],
    errors: [...errors, 'invalid_request'],
  },
  {
    method: 'delete',
    path: '/v1/chats',
    id: 'deleteChats',
    summary: 'Deletes all chats of the user',
    answers: [{ status: 204, description: 'None is left.' }],
    errors,
  },
  {
    method: 'get',
    path: '/v1/chat-changes',
    id: 'listChatChanges',
    summary: 'Lists which chats were changed or deleted, in the order of their last changes',
    parameters: [limit, since],
    answers: [{ status: 200, description: 'The changes.', content: json(changes) }],
    errors: [...errors, 'invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/chats/{chat}',
    id: 'getChat',
    summary: 'Reads a chat with its turns',
    parameters: [inChat, { ...since, description: 'A revision; only turns that were written later are answered.' }],
    answers: [{ status: 200, description: 'The chat, with its `ETag`.', content: json(chat) }],
    errors: [...ofOne, 'invalid_request'],
  },
  {
    method: 'post',
    path: '/v1/chats/{chat}',
    id: 'writeChat',
    summary: 'Makes a chat, or changes it: adds turns, replaces those of the same ids, sets fields',
    parameters: [inChat, ifMatch, ifNoneMatch],
    body: json({ name: 'ChatPatch', schema: ChatPatch }, { question: { summary: 'A first question', value: example } }),
    answers: [{ status: 200, description: 'What lists show of it now, with its `ETag`.', content: json(head) }],
    errors: [...ofOne, ...bodyErrors, 'precondition_failed'],
  },
  {
    method: 'delete',
    path: '/v1/chats/{chat}',
    id: 'deleteChat',
    summary: 'Deletes a chat',
    parameters: [inChat, ifMatch],
    answers: [{ status: 204, description: 'It is gone.' }],
    errors: [...ofOne, 'precondition_failed'],
  },
];

/** Operations for the chats of the page. */
export const chatOperations: readonly ApiOperation[] = described.map((operation) => ({ ...operation, tag: 'Chats' }));
