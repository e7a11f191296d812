import type { ErrorCode } from '#contract/errors/errors.ts';
import { ChatTurn, NewShare } from '#contract/page/stored-chat.ts';
import { type ApiOperation, buildList, inPath, json, type NamedSchema } from '../http/operations/operation.ts';
import { bodyErrors, keyErrors } from '../http/operations/operation-errors.ts';
import { exampleNames } from '../http/operations/operation-examples.ts';

const text = { type: 'string' };
const times = { createdAtMs: { type: 'integer' }, expiresAtMs: { type: 'integer' } };
const properties = { id: text, chat: text, title: text, ...times };
const required = Object.keys(properties);
const share: NamedSchema = { name: 'ChatShare', schema: { type: 'object', required, properties } };
const createdShare: NamedSchema = {
  name: 'MadeChatShare',
  schema: {
    type: 'object',
    required: [...required, 'token', 'files'],
    properties: {
      ...properties,
      token: { type: 'string', description: 'Opens it. Told once, and kept nowhere.' },
      files: { type: 'integer', description: 'How many stored files are shared with it.' },
    },
  },
};
const fileFields = {
  path: { type: 'string', description: 'In the bucket of the owner.' },
  title: text,
  from: { enum: ['question', 'reply'], description: 'What attaches it first.' },
};
const shareableFile: NamedSchema = {
  name: 'ShareableFile',
  schema: { type: 'object', required: Object.keys(fileFields), properties: fileFields },
};
const sharedChat: NamedSchema = {
  name: 'SharedChat',
  schema: {
    type: 'object',
    required: ['object', 'from', 'title', 'deployment', 'createdAtMs', 'expiresAtMs', 'turns'],
    properties: {
      object: { const: 'shared_chat' },
      from: { type: 'string', description: 'The user who shared it, as `GET /v1/user/info` names users.' },
      ...{ title: text, deployment: text, ...times },
      turns: { type: 'array', items: ChatTurn },
    },
  },
};

const inToken = inPath('token', 'The token of the link.', exampleNames.shareToken);
const inChat = inPath('chat', 'Id of the chat.', exampleNames.chatId);
const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'route_not_found'];
const ofOne: readonly ErrorCode[] = [...errors, 'share_not_found'];

type Described = Omit<ApiOperation, 'tag'>;

const described: readonly Described[] = [
  {
    method: 'post',
    path: '/v1/chats/{chat}/shares',
    id: 'shareChat',
    summary: 'Shares what a chat shows now with all users who get the link',
    parameters: [inChat],
    body: json({ name: 'NewChatShare', schema: NewShare }, { week: { summary: 'For a week', value: { expiresInDays: 7 } } }),
    answers: [{ status: 201, description: 'It is shared.', content: json(createdShare) }],
    errors: [...errors, ...bodyErrors, 'response_not_found', 'precondition_failed'],
  },
  {
    method: 'get',
    path: '/v1/chats/{chat}/shared-files',
    id: 'listShareableFiles',
    summary: 'Lists the stored files that a link to the chat would share now',
    parameters: [inChat],
    answers: [
      {
        status: 200,
        description: 'The files that the user attached or that the application which answered keeps.',
        content: json(buildList(shareableFile)),
      },
    ],
    errors: [...errors, 'response_not_found'],
  },
  {
    method: 'get',
    path: '/v1/chat-shares',
    id: 'listChatShares',
    summary: 'Lists what the user shares, the latest first',
    answers: [{ status: 200, description: 'All of it.', content: json(buildList(share)) }],
    errors,
  },
  {
    method: 'delete',
    path: '/v1/chat-shares/{share}',
    id: 'revokeChatShare',
    summary: 'Revokes a link: it opens nothing any more',
    parameters: [inPath('share', 'Id of the share.', exampleNames.share)],
    answers: [{ status: 204, description: 'It is revoked.' }],
    errors: ofOne,
  },
  {
    method: 'get',
    path: '/v1/shared-chats/{token}',
    id: 'openSharedChat',
    summary: 'Reads what somebody shared',
    parameters: [inToken],
    answers: [{ status: 200, description: 'What was shown when it was shared.', content: json(sharedChat) }],
    errors: ofOne,
  },
  {
    method: 'get',
    path: '/v1/shared-chats/{token}/files/{file}',
    id: 'readSharedFile',
    summary: 'Reads a stored file that an attachment of a shared chat shows',
    parameters: [inToken, inPath('file', 'Its number, as the attachment has it.', '0')],
    answers: [{ status: 200, description: 'The file as it was shared.', content: [{ type: '*/*', schema: {} }] }],
    errors: ofOne,
  },
];

/** Operations for chats that are shared by links. */
export const shareOperations: readonly ApiOperation[] = described.map((operation) => ({ ...operation, tag: 'Chats' }));
