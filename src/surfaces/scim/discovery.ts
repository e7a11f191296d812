import type { JsonObject } from '#base/json/json.ts';
import { groupSchema, maxCount, userSchema } from './resources.ts';
import { scimPrefix } from './scim-error.ts';

const core = 'urn:ietf:params:scim:schemas:core:2.0';

/** Features of the SCIM service (RFC 7643, 5). */
export const serviceProviderConfig: JsonObject = {
  schemas: [`${core}:ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: maxCount },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Key',
      description: 'A key with the role scim, as Authorization: Bearer KEY',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${scimPrefix}/ServiceProviderConfig` },
};

/** A definition that has an ID. */
type Identified = JsonObject & { readonly id: string };

/** Kinds of resources (RFC 7643, 6). */
export const listResourceTypes: readonly Identified[] = [
  { name: 'User', schema: userSchema },
  { name: 'Group', schema: groupSchema },
].map(({ name, schema }) => ({
  schemas: [`${core}:ResourceType`],
  id: name,
  name,
  endpoint: `/${name}s`,
  schema,
  meta: { resourceType: 'ResourceType', location: `${scimPrefix}/ResourceTypes/${name}` },
}));

interface AttributeOptions {
  readonly isRequired?: boolean;
  readonly isReadOnly?: boolean;
  readonly isUnique?: boolean;
  readonly isExact?: boolean;
  readonly subAttributes?: readonly JsonObject[];
}

function attribute(name: string, type: string, options: AttributeOptions = {}): JsonObject {
  const { isRequired = false, isReadOnly = false, isUnique = false, isExact = false, subAttributes } = options;
  return {
    name,
    type,
    multiValued: subAttributes !== undefined,
    required: isRequired,
    ...(type === 'string' && { caseExact: isExact }),
    mutability: isReadOnly ? 'readOnly' : 'readWrite',
    returned: 'default',
    uniqueness: isUnique ? 'server' : 'none',
    ...(subAttributes && { subAttributes }),
  };
}

const references = [attribute('value', 'string', { isExact: true }), attribute('display', 'string', { isReadOnly: true })];

/** Attributes that Parley uses (RFC 7643, 7). It stores and returns all other attributes of a user unchanged. */
export const listSchemas: readonly Identified[] = [
  {
    id: userSchema,
    name: 'User',
    attributes: [
      attribute('userName', 'string', { isRequired: true, isUnique: true }),
      attribute('externalId', 'string', { isExact: true }),
      attribute('active', 'boolean'),
      attribute('groups', 'complex', { isReadOnly: true, subAttributes: references }),
    ],
  },
  {
    id: groupSchema,
    name: 'Group',
    attributes: [
      attribute('displayName', 'string', { isRequired: true, isUnique: true }),
      attribute('externalId', 'string', { isExact: true }),
      attribute('members', 'complex', { subAttributes: references }),
    ],
  },
].map((schema) => ({
  schemas: [`${core}:Schema`],
  ...schema,
  meta: { resourceType: 'Schema', location: `${scimPrefix}/Schemas/${schema.id}` },
}));
