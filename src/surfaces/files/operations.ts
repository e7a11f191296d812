import type { ErrorCode } from '#contract/errors/errors.ts';
import { type ApiOperation, buildObject, inHeader, inPath, json, type Schema } from '../http/operations/operation.ts';
import { compatErrorShape, keyErrors } from '../http/operations/operation-errors.ts';
import { exampleNames } from '../http/operations/operation-examples.ts';
import { itemSchemas } from './resources/metadata-schemas.ts';

const text: Schema = { type: 'string' };
const binary: Schema = { type: 'string', format: 'binary' };
const tag = 'Files';

const bucket: Schema = buildObject(
  {
    bucket: text,
    appdata: {
      ...text,
      description: 'With a per-request key: `{bucket of the user}/appdata/{deployment}`, where the application may write.',
    },
  },
  ['appdata'],
);

const inBucket = inPath('bucket', 'The bucket of the owner; `GET /v1/bucket` names that of the caller.', exampleNames.bucket);
const pathParams = [inBucket, inPath('path', 'Its path below the bucket; it may hold slashes.', exampleNames.file)];

const ifMatch = inHeader('If-Match', 'ETags, one of which must be that of the file; `*`: there must be one.', { example: '*' });
const ifNoneMatch = inHeader('If-None-Match', 'ETags, none of which may be that of the file; `*`: there must be none.', {
  example: '"2f8b1c"',
});

const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'file_not_found'];
/** Content types of files. Client generators support `application/octet-stream`, so it comes first. */
const bytes = ['application/octet-stream', '*/*'].map((type) => ({ type, schema: binary }));
const unchanged = { status: 304, description: 'The file is the one that `If-None-Match` names.' };
const content = 'The library is open from 9 to 17.\n';

/** Operations for stored files. */
export const fileOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/bucket',
    id: 'getBucket',
    tag,
    summary: 'Names the bucket of the caller',
    description: 'With a per-request key that of the application, whoever calls it, and where it keeps data of the user.',
    answers: [{ status: 200, description: 'The same string every time.', content: json(bucket) }],
    errors: keyErrors,
  },
  {
    method: 'get',
    path: '/v1/files/{bucket}/{path}',
    id: 'getFile',
    tag,
    summary: 'Reads a file',
    description: 'Open to its owner, and to the per-request keys of calls whose request named it.',
    parameters: [
      ...pathParams,
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
    parameters: [...pathParams, ifNoneMatch, ifMatch],
    answers: [{ status: 200, description: 'As GET, without the content.' }, unchanged],
    errors: [...errors, 'precondition_failed'],
  },
  {
    method: 'put',
    path: '/v1/files/{bucket}/{path}',
    id: 'putFile',
    tag,
    summary: 'Stores a file in the place of what is there',
    description: 'The body is the file itself, or a form: of its parts the one named `file`, else the first with a filename.',
    parameters: [...pathParams, ifMatch, ifNoneMatch],
    body: [
      ...bytes.map((entry) => ({ ...entry, examples: { file: { summary: 'A text', value: content } } })),
      {
        type: 'multipart/form-data',
        schema: { type: 'object', properties: { file: binary } },
        examples: { form: { summary: 'A form', value: { file: content } } },
      },
    ],
    answers: [{ status: 200, description: 'The metadata of the file.', content: json(itemSchemas.files) }],
    errors: [...errors, 'invalid_request', 'precondition_failed', 'payload_too_large', 'unsupported_media_type'],
  },
  {
    method: 'delete',
    path: '/v1/files/{bucket}/{path}',
    id: 'deleteFile',
    tag,
    summary: 'Deletes a file',
    parameters: [...pathParams, ifMatch, ifNoneMatch],
    answers: [{ status: 204, description: 'The file is gone.' }],
    errors: [...errors, 'precondition_failed'],
  },
];
