import { ChatPatch, ChatTurn, chatFlags, chatHeadFields } from '#contract/page/stored-chat.ts';
import {
  buildArray,
  buildObject,
  inHeader,
  inPath,
  inQuery,
  json,
  listOperations,
  nameObject,
  nameSchema,
  reply,
  type Schema,
  text,
} from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames } from '../http/openapi/operation-examples.ts';

const revision: Schema = {
  type: 'integer',
  description: 'Revision number, also used as the ETag. It increases with each change to any chat of the user.',
};
const headFields = { id: text, revision, updatedAtMs: { type: 'integer' }, ...chatFlags, ...chatHeadFields };
const optional = Object.keys(chatHeadFields);
const head = nameObject('ChatHead', headFields, optional);
const excerpt: Schema = { type: 'string', description: 'For a search, a line of text around the words that were found.' };
const listedChat = nameObject('ListedChat', { ...headFields, excerpt }, [...optional, 'excerpt']);
const deleted = nameObject('DeletedChat', { id: text, revision, deleted: { type: 'boolean' } });
const chatSchema = buildObject({ ...headFields, turns: buildArray(ChatTurn) }, optional);
const chat = nameSchema('Chat', { ...chatSchema, additionalProperties: true });
const page = nameObject('ChatPage', {
  object: { const: 'list' },
  data: { type: 'array', items: listedChat },
  nextToken: { type: ['string', 'null'], description: 'The `token` of the next page. Null after the last page.' },
  revision: { ...revision, description: 'Revision to pass as `since` to follow changes.' },
});
const changes = nameObject('ChatChanges', {
  object: { const: 'list' },
  data: { type: 'array', items: { oneOf: [head, deleted] } },
  revision: { ...revision, description: 'The `since` of the next request.' },
  hasMore: { type: 'boolean' },
  reset: {
    type: 'boolean',
    description: 'Whether the client must discard its copy and list all chats again, because too many chats were deleted since.',
  },
});
const example = {
  title: 'Opening hours',
  deployment: 'demo',
  turns: [{ id: 'q1', parent: '', kind: 'question', atMs: 1_763_700_000_000, text: 'When is it open?' }],
};

const inChat = inPath(
  'chat',
  'ID of the chat, chosen by the client. At most 64 letters, digits, `_`, and `-`.',
  exampleNames.chatId,
);
const ifMatch = inHeader('If-Match', 'The ETag that the chat must have. With `*`, the chat must exist.', { example: '*' });
const ifNoneMatch = inHeader('If-None-Match', 'With `*`, the chat must not exist.');
const limit = inQuery('limit', 'Maximum number of items, 1 to 500. The default is 100.', {
  schema: { type: 'integer', minimum: 1, maximum: 500 },
});
const since = inQuery('since', 'A revision. The response has only later changes. The default is all changes.', {
  schema: { type: 'integer', minimum: 0 },
});

const shared = { tag: 'Chats', errors: [...keyErrors, 'access_denied', 'route_not_found'] } as const;

/** Operations for the chats of the page. */
export const chatOperations = listOperations(shared, {
  'get /v1/chats': {
    id: 'listChats',
    summary: 'Lists or searches the chats of the user, pinned chats first, then latest first',
    parameters: [
      limit,
      inQuery('token', '`nextToken` of the previous page.'),
      inQuery('archived', 'Whether to list archived chats instead of the other chats.', { schema: { type: 'boolean' } }),
      inQuery(
        'query',
        'Words to search for. Each word must occur in the title, a tag, or a turn. A page decrypts at most 32 MiB, so it may cover a part of the chats only, and be empty. Continue while there is a `nextToken`.',
      ),
      inQuery('excerpts', 'Whether the first 100 results of a page have an `excerpt`, a line around the words in a turn.', {
        schema: { type: 'boolean' },
      }),
    ],
    responses: [reply(200, 'A page.', page)],
    errors: ['invalid_request'],
  },
  'delete /v1/chats': {
    id: 'deleteChats',
    summary: 'Deletes all chats of the user',
    responses: [reply(204, 'All chats are deleted.')],
  },
  'get /v1/chat-changes': {
    id: 'listChatChanges',
    summary: 'Lists changed and deleted chats in the order of their last change',
    description:
      'With `reset`, too many chats were deleted since then. Discard all chats and list them again. Each change of a user’s chats has a higher revision than the one before.',
    parameters: [limit, since],
    responses: [reply(200, 'The changes.', changes)],
    errors: ['invalid_request'],
  },
  'get /v1/chats/{chat}': {
    id: 'getChat',
    summary: 'Returns a chat with its turns',
    parameters: [inChat, { ...since, description: 'A revision. The response has only turns that were written later.' }],
    responses: [reply(200, 'The chat, with its `ETag`.', chat)],
    errors: ['response_not_found', 'invalid_request'],
  },
  'post /v1/chats/{chat}': {
    id: 'writeChat',
    summary: 'Creates or updates a chat: adds turns, replaces turns with the same IDs, sets fields',
    description:
      'Never removes turns, and stores further fields. Clients choose the IDs of chats and turns: at most 64 letters, digits, `_`, and `-`. An `updatedAtMs` in the future becomes the time of the server. The revision of a chat is its `ETag`. Write with `If-Match`, or with `If-None-Match: *` for a new chat. After 412, read the chat, add your turns, and write again. A request has at most 16 MiB and 1000 turns, a chat 32 MiB, and a user 10 GiB. More returns 413.',
    parameters: [inChat, ifMatch, ifNoneMatch],
    body: json({ name: 'ChatPatch', schema: ChatPatch }, { question: { summary: 'A first question', value: example } }),
    responses: [reply(200, 'The chat as it appears in lists, with its `ETag`.', head)],
    errors: ['response_not_found', ...bodyErrors, 'precondition_failed'],
  },
  'delete /v1/chats/{chat}': {
    id: 'deleteChat',
    summary: 'Deletes a chat',
    parameters: [inChat, ifMatch],
    responses: [reply(204, 'The chat is deleted.')],
    errors: ['response_not_found', 'precondition_failed'],
  },
});
