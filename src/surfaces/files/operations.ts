import type { ErrorCode } from '#contract/errors.ts';
import { type ApiOperation, inHeader, inPath, inQuery, json, type NamedSchema, type Schema } from '../http/operation.ts';
import { compatErrorShape, keyErrors } from '../http/operation-errors.ts';
import { exampleNames } from '../http/operation-examples.ts';

const text: Schema = { type: 'string' };
const binary: Schema = { type: 'string', format: 'binary' };
const milliseconds: Schema = { type: 'integer', description: 'Milliseconds since the epoch.' };
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
    required: ['nodeType', 'name', 'bucket', 'url', 'contentType', 'contentLength', 'etag', 'createdAt', 'updatedAt'],
    properties: {
      ...nodeFields,
      nodeType: { const: 'ITEM' },
      contentType: text,
      contentLength: { type: 'integer', description: 'Bytes.' },
      etag: { type: 'string', description: 'Another for each content; without quotes.' },
      createdAt: milliseconds,
      updatedAt: milliseconds,
    },
  },
};

const folder: NamedSchema = {
  name: 'Folder',
  schema: {
    type: 'object',
    required: ['nodeType', 'name', 'bucket', 'url'],
    properties: { ...nodeFields, nodeType: { const: 'FOLDER' } },
  },
};

const list: NamedSchema = {
  name: 'FileList',
  schema: {
    type: 'object',
    required: ['items', 'nextToken'],
    properties: {
      items: { type: 'array', items: { oneOf: [metadata, folder] } },
      nextToken: { type: ['string', 'null'], description: 'For `token` of the next page; null after the last.' },
    },
  },
};

const bucket: Schema = { type: 'object', required: ['bucket'], properties: { bucket: text } };

const inBucket = inPath('bucket', 'The bucket of the owner; `GET /v1/bucket` names that of the caller.', exampleNames.bucket);
const place = [inBucket, inPath('path', 'Its path below the bucket; it may hold slashes.', exampleNames.file)];

const ifMatch = inHeader('If-Match', 'ETags, one of which must be that of the file; `*`: there must be one.', { example: '*' });
const ifNoneMatch = inHeader('If-None-Match', 'ETags, none of which may be that of the file; `*`: there must be none.', {
  example: '"2f8b1c"',
});

const page = [
  inQuery('limit', 'Most items of a page; a page may have fewer.', {
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
    example: 100,
  }),
  inQuery('token', '`nextToken` of the page before.'),
  inQuery('recursive', 'Files of the folders below in place of these folders.', {
    schema: { type: 'boolean', default: false },
    example: true,
  }),
];

const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'file_not_found'];
/** Of any type; generators of clients know the first. */
const bytes = ['application/octet-stream', '*/*'].map((type) => ({ type, schema: binary }));
const unchanged = { status: 304, description: 'The file is the one that `If-None-Match` names.' };
const content = 'The library is open from 9 to 17.\n';

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
      inHeader('Range', 'One range of bytes.', { example: 'bytes=0-10' }),
      inHeader('If-Range', 'The ETag that the range is of.'),
    ],
    answers: [
      { status: 200, description: 'The file, with its `ETag`.', content: bytes },
      { status: 206, description: 'The range of the file.', content: bytes },
      unchanged,
      {
        status: 416,
        description: 'The range lies behind the end of the file; `Content-Range: bytes */{length}` says where that is.',
        content: json(compatErrorShape.body),
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
    answers: [{ status: 200, description: 'As GET, without the content.' }, unchanged],
    errors: [...errors, 'precondition_failed'],
  },
  {
    method: 'put',
    path: '/v1/files/{bucket}/{path}',
    id: 'putFile',
    tag,
    summary: 'Stores a file in the place of what is there',
    description: 'The body is the file itself, or a form whose first part is the file.',
    parameters: [...place, ifMatch, ifNoneMatch],
    body: [
      ...bytes.map((each) => ({ ...each, examples: { file: { summary: 'A text', value: content } } })),
      {
        type: 'multipart/form-data',
        schema: { type: 'object', properties: { file: binary } },
        examples: { form: { summary: 'A form', value: { file: content } } },
      },
    ],
    answers: [{ status: 200, description: 'The metadata of the file.', content: json(metadata) }],
    errors: [...errors, 'invalid_request', 'precondition_failed', 'payload_too_large', 'unsupported_media_type'],
  },
  {
    method: 'delete',
    path: '/v1/files/{bucket}/{path}',
    id: 'deleteFile',
    tag,
    summary: 'Deletes a file',
    parameters: [...place, ifMatch, ifNoneMatch],
    answers: [{ status: 204, description: 'The file is gone.' }],
    errors: [...errors, 'precondition_failed'],
  },
  {
    method: 'get',
    path: '/v1/metadata/files/{bucket}',
    id: 'listFiles',
    tag,
    summary: 'Lists the top of a bucket',
    parameters: [inBucket, ...page],
    answers: [{ status: 200, description: 'A page.', content: json(list) }],
    errors: [...errors, 'invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/metadata/files/{bucket}/{path}',
    id: 'getFileMetadata',
    tag,
    summary: 'Shows the metadata of a file, or lists a folder',
    description: 'The path of a folder ends with a slash.',
    parameters: [...place, ...page],
    answers: [{ status: 200, description: 'The metadata, or a page of the folder.', content: json({ oneOf: [metadata, list] }) }],
    errors: [...errors, 'invalid_request'],
  },
];
