import { ChatTurn, NewShare } from '#contract/page/stored-chat.ts';
import { buildArray, buildList, inPath, json, listOperations, nameObject, reply, text } from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames } from '../http/openapi/operation-examples.ts';

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
const sharedChat = nameObject('SharedChat', {
  object: { const: 'shared_chat' },
  from: { ...text, description: 'The user who shared the chat, in the form of `GET /v1/user/info`.' },
  ...{ title: text, deployment: text, ...times },
  turns: buildArray(ChatTurn),
});

const inToken = inPath('token', 'The token of the link.', exampleNames.shareToken);
const inChat = inPath('chat', 'ID of the chat.', exampleNames.chatId);

const shared = { tag: 'Chats', errors: [...keyErrors, 'access_denied', 'route_not_found'] } as const;

/** Operations for chats that are shared by links. */
export const shareOperations = listOperations(shared, {
  'post /v1/chats/{chat}/shares': {
    id: 'shareChat',
    summary: 'Shares the current content of a chat with all users who have the link',
    description:
      'Requires `page.sharing`. The `token` has 256 random bits. The snapshot has the visible branch: `shown`, otherwise the last turn of each. Questions have `text`, `attachments`, `control`, and `filled`. Replies have `text`, `deployment`, `deploymentName` (for readers without access to it), `state`, `finish`, `isEdited` (words of the user), and `custom.attachments`. Other parts are not shared. A user can share 200 snapshots and 256 MiB, a snapshot 8 Mi characters. More returns 413.',
    parameters: [inChat],
    body: json({ name: 'NewChatShare', schema: NewShare }, { week: { summary: 'For a week', value: { expiresInDays: 7 } } }),
    responses: [reply(201, 'The chat is shared.', createdShare)],
    errors: [...bodyErrors, 'response_not_found', 'precondition_failed'],
  },
  'get /v1/chats/{chat}/shared-files': {
    id: 'listShareableFiles',
    summary: 'Lists the stored files that a share of the chat would include now',
    parameters: [inChat],
    responses: [
      reply(
        200,
        'Files that the user attached, and files that the application stored while it answered.',
        buildList(shareableFile),
      ),
    ],
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
