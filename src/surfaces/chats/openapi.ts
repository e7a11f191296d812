import { ChatPatch, ChatTurn, chatFlags, chatHeadFields, NewShare } from '#contract/page/stored-chat.ts';
import {
  buildArray,
  buildList,
  buildObject,
  inHeader,
  inPath,
  inQuery,
  json,
  listOperations,
  nameObject,
  nameSchema,
  nextToken,
  pageToken,
  reply,
  type Schema,
  text,
} from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames } from '../http/openapi/operation-examples.ts';
import { count } from '../http/openapi/shared-schemas.ts';

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
  data: buildArray(listedChat),
  nextToken,
  revision: { ...revision, description: 'Revision to pass as `since` to follow changes.' },
});
const changes = nameObject('ChatChanges', {
  object: { const: 'list' },
  data: buildArray({ oneOf: [head, deleted] }),
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
  schema: count,
});

const times = { createdAtMs: { type: 'integer' }, expiresAtMs: { type: 'integer' } };
const shareFields = { id: text, chat: text, title: text, ...times };
const share = nameObject('ChatShare', shareFields);
const createdShare = nameObject('MadeChatShare', {
  ...shareFields,
  token: { ...text, description: 'Token that opens the share. Parley returns it only once and does not store it.' },
  files: { type: 'integer', description: 'Number of stored files that are shared with the chat.' },
});
const shareableFile = nameObject('ShareableFile', {
  path: { ...text, description: 'Path in the bucket of the owner.' },
  title: text,
  from: { enum: ['question', 'reply'], description: 'Whether a question or a reply attaches it first.' },
});
const sharePreview = nameObject('SharePreview', {
  object: { const: 'list' },
  title: text,
  revision,
  data: buildArray(shareableFile),
});
const sharedChat = nameObject('SharedChat', {
  object: { const: 'shared_chat' },
  from: { ...text, description: 'The user who shared the chat, in the form of `GET /v1/user/info`.' },
  ...{ title: text, deployment: text, ...times },
  turns: buildArray(ChatTurn),
});

const inStoredChat = inPath('chat', 'ID of the chat.', exampleNames.chatId);
const inToken = inPath('token', 'The token of the link.', exampleNames.shareToken);

const shared = { tag: 'Chats', errors: [...keyErrors, 'access_denied', 'route_not_found'] } as const;

/** Operations for the chats of the page, and for links to snapshots of them. */
export const chatOperations = listOperations(shared, {
  'get /v1/chats': {
    id: 'listChats',
    summary: 'Lists or searches the chats of the user, pinned chats first, then latest first',
    parameters: [
      limit,
      pageToken,
      inQuery('archived', 'Whether to list archived chats instead of the other chats.', { schema: { type: 'boolean' } }),
      inQuery(
        'query',
        'Words to search for. Each word must occur in the title, a tag, or a turn. Parley decrypts at most 32 MiB for one page, so a page may be empty although later pages have results. Continue while there is a `nextToken`.',
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
      'Never removes turns. Stores unknown fields too. Clients choose the IDs of chats and turns: at most 64 letters, digits, `_`, and `-`. An `updatedAtMs` in the future becomes the time of the server. The revision of a chat is its `ETag`. Write with `If-Match`, or with `If-None-Match: *` for a new chat. After 412, read the chat, add your turns, and write again. A request has at most 16 MiB and 1000 turns, a chat 32 MiB, and a user 10 GiB. More returns 413.',
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
  'post /v1/chats/{chat}/shares': {
    id: 'shareChat',
    summary: 'Shares the current content of a chat with all users who have the link',
    description:
      'Requires `page.sharing`. With `If-Match`, the chat must have the `revision` of its shared files. The `token` has 256 random bits. The snapshot has the visible branch: after each turn, the next turn that `shown` names, otherwise the last one. Questions have `text`, `attachments`, `control`, and `filled`. Replies have `text`, `deployment`, `deploymentName` (for readers without access to it), `state`, `finish`, `isEdited` (words of the user), and `custom.attachments`. Other parts are not shared. A user can share 200 snapshots and 256 MiB, a snapshot 8 Mi characters. More returns 413.',
    parameters: [inStoredChat, ifMatch],
    body: json({ name: 'NewChatShare', schema: NewShare }, { week: { summary: 'For a week', value: { expiresInDays: 7 } } }),
    responses: [reply(201, 'The chat is shared.', createdShare)],
    errors: [...bodyErrors, 'response_not_found', 'precondition_failed'],
  },
  'get /v1/chats/{chat}/shared-files': {
    id: 'listShareableFiles',
    summary: 'Returns the title and the stored files that a share of the chat would include now',
    parameters: [inStoredChat],
    responses: [reply(200, 'The title, and the files that the user attached or that the application stored.', sharePreview)],
    errors: ['response_not_found'],
  },
  'get /v1/chat-shares': {
    id: 'listChatShares',
    summary: 'Lists the shares of the user, latest first',
    responses: [reply(200, 'The shares.', buildList(share))],
  },
  'delete /v1/chat-shares/{share}': {
    id: 'revokeChatShare',
    summary: 'Revokes a share, so that its link no longer works',
    parameters: [inPath('share', 'ID of the share.', exampleNames.share)],
    responses: [reply(204, 'The share is revoked.')],
    errors: ['share_not_found'],
  },
  'get /v1/shared-chats/{token}': {
    id: 'openSharedChat',
    summary: 'Returns a shared chat',
    description:
      'For every caller with valid credentials. A share that was revoked or deleted, or that has expired, returns 404 `share_not_found`.',
    parameters: [inToken],
    responses: [reply(200, 'The content of the chat at the time of sharing.', sharedChat)],
    errors: ['share_not_found'],
  },
  'get /v1/shared-chats/{token}/files/{file}': {
    id: 'readSharedFile',
    summary: 'Returns a stored file that a shared chat attaches',
    description: 'The file is available while its content is unchanged.',
    parameters: [inToken, inPath('file', 'Number of the file, from the attachment.', '0')],
    responses: [{ status: 200, description: 'The file at the time of sharing.', content: [{ type: '*/*', schema: {} }] }],
    errors: ['share_not_found'],
  },
});
