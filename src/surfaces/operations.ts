import { type ApiOperation, type ApiResponse, json, type NamedSchema, type Schema } from './http/openapi/operation.ts';

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
