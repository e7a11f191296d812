import type { ErrorCode } from '#contract/errors/errors.ts';
import {
  buildObject,
  inHeader,
  inPath,
  listConditions,
  listOperations,
  reply,
  type Schema,
  text,
} from '../http/openapi/operation.ts';
import { compatErrorShape, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames, inBucket } from '../http/openapi/operation-examples.ts';
import { itemSchemas } from './resources/metadata-schemas.ts';

const binary: Schema = { type: 'string', format: 'binary' };

const bucket: Schema = buildObject(
  {
    bucket: text,
    appdata: {
      ...text,
      description:
        'Present with a per-request key: `{bucket of the user}/appdata/{deployment}`, where the application may write.',
    },
  },
  ['appdata'],
);

const pathParams = [inBucket, inPath('path', 'Path in the bucket. It may contain slashes.', exampleNames.file)];

const [ifMatch, ifNoneMatch] = listConditions('file');

const errors: readonly ErrorCode[] = ['access_denied', 'file_not_found'];
/** Content types of files. Client generators support `application/octet-stream`, so it comes first. */
const bytes = ['application/octet-stream', '*/*'].map((type) => ({ type, schema: binary }));
const unchanged = reply(304, 'The ETag of the file matches `If-None-Match`.');
const content = 'The library is open from 9 to 17.\n';

const shared = { tag: 'Files', errors: keyErrors } as const;

/** Operations for stored files. */
export const fileOperations = listOperations(shared, {
  'get /v1/bucket': {
    id: 'getBucket',
    summary: 'Returns the bucket of the caller',
    description:
      'With a per-request key, the response has the bucket of the application, which is the same for all users, and the folder for data of the user.',
    responses: [reply(200, 'The bucket, which never changes.', bucket)],
  },
  'get /v1/files/{bucket}/{path}': {
    id: 'getFile',
    summary: 'Returns a file',
    description: 'The owner may read a file. A per-request key may read it if the request of its call names the file.',
    parameters: [
      ...pathParams,
      ifNoneMatch,
      ifMatch,
      inHeader('Range', 'One range of bytes.', { example: 'bytes=0-10' }),
      inHeader('If-Range', 'The ETag of the file that the range belongs to.'),
    ],
    responses: [
      { status: 200, description: 'The file, with its `ETag`.', content: bytes },
      { status: 206, description: 'The range of the file.', content: bytes },
      unchanged,
      reply(
        416,
        'The range starts after the end of the file. `Content-Range: bytes */{length}` contains the length.',
        compatErrorShape.body,
      ),
    ],
    errors: [...errors, 'precondition_failed'],
  },
  'head /v1/files/{bucket}/{path}': {
    id: 'headFile',
    summary: 'Returns the type, length, and ETag of a file',
    parameters: [...pathParams, ifNoneMatch, ifMatch],
    responses: [reply(200, 'The headers of GET, without the content.'), unchanged],
    errors: [...errors, 'precondition_failed'],
  },
  'put /v1/files/{bucket}/{path}': {
    id: 'putFile',
    summary: 'Creates or replaces a file',
    description:
      'The body is the file or a form. In a form, Parley stores the part named `file`. Without one, it stores the first part with a filename.',
    parameters: [...pathParams, ifMatch, ifNoneMatch],
    body: [
      ...bytes.map((entry) => ({ ...entry, examples: { file: { summary: 'A text', value: content } } })),
      {
        type: 'multipart/form-data',
        schema: { type: 'object', properties: { file: binary } },
        examples: { form: { summary: 'A form', value: { file: content } } },
      },
    ],
    responses: [reply(200, 'The metadata of the file.', itemSchemas.files)],
    errors: [...errors, 'invalid_request', 'precondition_failed', 'payload_too_large', 'unsupported_media_type'],
  },
  'delete /v1/files/{bucket}/{path}': {
    id: 'deleteFile',
    summary: 'Deletes a file',
    parameters: [...pathParams, ifMatch, ifNoneMatch],
    responses: [reply(204, 'The file is deleted.')],
    errors: [...errors, 'precondition_failed'],
  },
});
