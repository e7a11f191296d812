import type { ErrorCode } from '#contract/errors.ts';
import { type ApiOperation, inHeader, inPath, inQuery, json, keyErrors, type NamedSchema } from '../http/operation.ts';

const text = { type: 'string' };
const binary = { type: 'string', format: 'binary' };
const tag = 'Files';

const nodeFields = {
  name: text,
  parentPath: { type: ['string', 'null'], description: 'The folder it lies in; null at the top of the bucket.' },
  bucket: text,
  url: { type: 'string', description: 'The reference, percent-encoded: `files/{bucket}/{path}`.' },
  resourceType: { const: 'FILE' },
};

const metadata: NamedSchema = {
  name: 'FileMetadata',
  schema: {
    type: 'object',
    required: ['name', 'bucket', 'url', 'contentType', 'contentLength', 'etag', 'createdAt', 'updatedAt'],
    properties: {
      ...nodeFields,
      nodeType: { const: 'ITEM' },
      contentType: text,
      contentLength: { type: 'integer', description: 'Bytes.' },
      etag: { type: 'string', description: 'Another for each content; without quotes.' },
      createdAt: { type: 'integer', description: 'Milliseconds since the epoch.' },
      updatedAt: { type: 'integer', description: 'Milliseconds since the epoch.' },
    },
  },
};

const folder = {
  type: 'object',
  required: ['name', 'bucket', 'url', 'nodeType'],
  properties: { ...nodeFields, nodeType: { const: 'FOLDER' } },
};

const list = {
  type: 'object',
  required: ['items', 'nextToken'],
  properties: {
    items: { type: 'array', items: { oneOf: [{ $ref: '#/components/schemas/FileMetadata' }, folder] } },
    nextToken: { type: ['string', 'null'], description: 'For `token` of the next page; null after the last.' },
  },
};

const bucket = { type: 'object', required: ['bucket'], properties: { bucket: text } };

const place = [
  inPath('bucket', 'The bucket of the one who stored it.'),
  inPath('path', 'Its path below the bucket; it may hold slashes.'),
];

const ifMatch = inHeader('If-Match', 'ETags, one of which must be that of the file; `*`: there must be one.');
const ifNoneMatch = inHeader('If-None-Match', 'ETags, none of which may be that of the file; `*`: there must be none.');
const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'file_not_found', 'overloaded'];
const bytes = [{ type: '*/*', schema: binary }];

/** Stored files. */
export const fileOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/bucket',
    id: 'getBucket',
    tag,
    summary: 'Names the bucket of the caller',
    answers: [{ status: 200, description: 'The same string every time.', content: json(bucket) }],
    errors: [...keyErrors, 'access_denied'],
  },
  {
    method: 'get',
    path: '/v1/files/{bucket}/{path}',
    id: 'getFile',
    tag,
    summary: 'Reads a file',
    description: 'Open to its owner, and to the per-request keys of calls whose request named it.',
    parameters: [
      ...place,
      ifNoneMatch,
      ifMatch,
      inHeader('Range', 'One range of bytes.'),
      inHeader('If-Range', 'The ETag that the range is of.'),
    ],
    answers: [
      { status: 200, description: 'The file, with its `ETag`.', content: bytes },
      { status: 206, description: 'The range of it.', content: bytes },
      { status: 304, description: 'It is the one that `If-None-Match` names.' },
      {
        status: 416,
        description: 'The range lies behind its end; `Content-Range: bytes */{length}` says where that is.',
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    ],
    errors: [...errors, 'precondition_failed'],
  },
  {
    method: 'head',
    path: '/v1/files/{bucket}/{path}',
    id: 'headFile',
    tag,
    summary: 'Tells the type, length and ETag of a file',
    parameters: [...place, ifNoneMatch, ifMatch],
    answers: [
      { status: 200, description: 'As GET, without the content.' },
      { status: 304, description: 'It is the one that `If-None-Match` names.' },
    ],
    errors: [...errors, 'precondition_failed'],
  },
  {
    method: 'put',
    path: '/v1/files/{bucket}/{path}',
    id: 'putFile',
    tag,
    summary: 'Stores a file in the place of what is there',
    description: 'The body is the file itself, or a form whose first part is.',
    parameters: [...place, ifMatch, ifNoneMatch],
    body: [
      { type: '*/*', schema: binary },
      { type: 'multipart/form-data', schema: { type: 'object', properties: { file: binary } } },
    ],
    answers: [{ status: 200, description: 'What is known of it.', content: json(metadata) }],
    errors: [...errors, 'invalid_request', 'precondition_failed', 'payload_too_large', 'unsupported_media_type'],
  },
  {
    method: 'delete',
    path: '/v1/files/{bucket}/{path}',
    id: 'deleteFile',
    tag,
    summary: 'Deletes a file',
    parameters: [...place, ifMatch, ifNoneMatch],
    answers: [{ status: 204, description: 'It is gone.' }],
    errors: [...errors, 'precondition_failed'],
  },
  {
    method: 'get',
    path: '/v1/metadata/files/{bucket}/{path}',
    id: 'getFileMetadata',
    tag,
    summary: 'Tells what is known of a file, or lists a folder',
    description: 'The path of a folder ends with a slash; an empty one lists the bucket.',
    parameters: [
      ...place,
      inQuery('limit', 'Most items of a page; a page may have fewer.', {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        default: 100,
      }),
      inQuery('token', '`nextToken` of the page before.'),
      inQuery('recursive', 'Files of folders below in place of these folders.', { type: 'boolean', default: false }),
    ],
    answers: [
      {
        status: 200,
        description: 'The file, or a page of the folder.',
        content: json({ oneOf: [{ $ref: '#/components/schemas/FileMetadata' }, list] }),
      },
    ],
    errors: [...errors, 'invalid_request'],
  },
];
