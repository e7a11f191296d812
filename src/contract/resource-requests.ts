import { type Static, type TSchema, Type } from 'typebox';
import { isJsonObject } from '#base/json/json.ts';
import { ParleyError } from './errors/errors.ts';
import { createRequestError, requireShape } from './errors/request-error.ts';
import { compileShape } from './schemas/compile-shape.ts';
import { withoutNulls } from './schemas/normalize-request.ts';

const resourceFields = {
  id: Type.String(),
  folderId: Type.String(),
  name: Type.String(),
};

const openObject = { additionalProperties: true };

/** A stored prompt. Unknown fields are kept. */
export const PromptRecord = Type.Object({ ...resourceFields, content: Type.String() }, openObject);
/** A stored conversation. Unknown fields are kept. */
export const ConversationRecord = Type.Object(
  { ...resourceFields, messages: Type.Array(Type.Object({}, openObject)) },
  openObject,
);

/** Body of a request that moves or copies a resource. */
export const RelocationRequest = Type.Object({
  sourceUrl: Type.String({ description: 'URL of the resource: `{kind}/{bucket}/{path}`, percent-encoded.' }),
  destinationUrl: Type.String({ description: 'New URL of the resource, of the same kind.' }),
  overwrite: Type.Optional(Type.Boolean({ description: 'Whether to replace an existing resource. Default: false.' })),
});
export type RelocationRequest = Static<typeof RelocationRequest>;

const maxPermissions = 1000;
const boundedObject = { maxProperties: 100 };
const permission = Type.Object(
  {
    url: Type.String({
      maxLength: 8192,
      description: '`{kind}/{bucket}/{path}`, percent-encoded. A slash at the end includes all resources below it.',
    }),
    permissions: Type.Array(Type.Enum(['READ', 'WRITE']), { minItems: 1, maxItems: 100 }),
  },
  boundedObject,
);
const permissionList = Type.Array(permission, { minItems: 1, maxItems: maxPermissions });
const receiver = Type.String({ minLength: 1, maxLength: 1024, description: 'ID of the deployment.' });

/** Body of a request that grants or revokes permissions. Some clients send `resources` instead of `resourcePermissions`. */
export const PermissionsRequest = Type.Object({ resourcePermissions: permissionList, receiver }, boundedObject);
export type PermissionsRequest = Static<typeof PermissionsRequest>;

/** Filter for a list of permissions. */
export const PermissionListRequest = Type.Object({ receiver: Type.Optional(receiver) });

/** Filter for a list of shared resources. */
export const ShareListRequest = Type.Object({
  resourceTypes: Type.Array(Type.String()),
  with: Type.Optional(Type.Enum(['me', 'others'])),
  order: Type.Optional(Type.String()),
});

/** Filter for a list of publications. */
export const PublicationListRequest = Type.Object({ url: Type.String() });

/** Returns a function that validates a body by a schema. It throws `invalid_request` for the first error. */
export function createParser<Schema extends TSchema>(schema: Schema): (body: unknown) => Static<Schema> {
  const shape = compileShape(schema);
  return (body) => {
    if (!isJsonObject(body)) throw new ParleyError('invalid_request', 'The body must be an object.');
    const request = withoutNulls(body, new Set(Object.keys(body)));
    const checked = requireShape<Static<Schema>>(shape as never, request);
    for (const [key, value] of Object.entries(request))
      if (typeof value === 'string' && value.includes('\0')) throw createRequestError(key, 'must not contain the character NUL');
    return checked;
  };
}

/** Validates granted or revoked permissions under either field name. */
export function parsePermissions(body: unknown): PermissionsRequest {
  if (!isJsonObject(body)) return checkPermissions(body);
  const { resources, ...fields } = body;
  return checkPermissions({ ...fields, ...((body.resourcePermissions ?? null) === null && { resourcePermissions: resources }) });
}

const checkPermissions = createParser(PermissionsRequest);
