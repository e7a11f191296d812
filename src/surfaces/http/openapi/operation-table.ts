import {
  type ApiOperation,
  type ApiResponse,
  buildObject,
  inHeader,
  inPath,
  json,
  type NamedSchema,
  type Parameter,
  type Schema,
} from './operation.ts';
import { exampleNames } from './operation-examples.ts';

/** An operation without its method and path. The tag can come from the fields that all operations of a table share. */
type DescribedOperation = Partial<ApiOperation> & Pick<ApiOperation, 'id' | 'summary' | 'responses'>;

/** Operations by method and path, such as `get /v1/chats/{chat}`. */
export type OperationTable = Readonly<Record<string, DescribedOperation>>;

/** Fields of all operations of a table. Operations that require a key have these errors in addition to their own. */
type SharedFields = Partial<ApiOperation> & Pick<ApiOperation, 'tag'>;

/** Returns the operations of a table, in its order. Fields of an operation take precedence over shared fields. */
export function listOperations({ errors: sharedErrors = [], ...shared }: SharedFields, table: OperationTable): ApiOperation[] {
  return Object.entries(table).map(([name, { errors = [], ...described }]) => {
    const [method, path = ''] = name.split(' ');
    const operation = { ...shared, method: method as ApiOperation['method'], path, ...described };
    return { ...operation, errors: operation.isOpen ? errors : [...sharedErrors, ...errors] };
  });
}

/** Returns a response with a body in JSON, or without a body. */
export function reply(status: number, description: string, schema?: Schema | NamedSchema): ApiResponse {
  return { status, description, ...(schema && { content: json(schema) }) };
}

export function nameSchema(name: string, schema: Schema): NamedSchema {
  return { name, schema };
}

/** Returns the named schema of an object. All properties are required except those that `optional` lists. */
export function nameObject(name: string, ...fields: Parameters<typeof buildObject>): NamedSchema {
  return { name, schema: buildObject(...fields) };
}

export const text = { type: 'string' };
export const moment = { type: 'integer', description: 'Milliseconds since the epoch.' };

export function orNull(type: string, description?: string): Schema {
  return { type: [type, 'null'], ...(description && { description }) };
}

/** Path parameter of stored items. */
export const inBucket = inPath(
  'bucket',
  'The bucket of the owner. `GET /v1/bucket` returns the bucket of the caller.',
  exampleNames.bucket,
);

/** Returns the headers `If-Match` and `If-None-Match` of an item that has an ETag. */
export function listConditions(item: string): readonly [Parameter, Parameter] {
  const any = `\`*\` matches any existing ${item}.`;
  const none = `With \`*\`, the ${item} must not exist.`;
  return [
    inHeader('If-Match', `ETags. The ETag of the ${item} must be one of them. ${any}`, { example: '*' }),
    inHeader('If-None-Match', `ETags. The ETag of the ${item} must not be one of them. ${none}`, { example: '"2f8b1c"' }),
  ];
}

/** Returns the part of operation IDs for a path prefix. */
export function toIdSuffix(prefix: string): string {
  return prefix.replace(/[^a-z0-9]+/gi, '_');
}
