import type { JsonObject } from '#base/json/json.ts';
import { getMember, type ScimFilter } from '#domain/scim/scim-filter.ts';
import type { ScimGroup, ScimMember, ScimQuery, ScimUser } from '#domain/scim/scim-store.ts';
import type { Query } from '../http/query.ts';
import { parseFilter, requireFilterable } from './filter.ts';
import { scimError, scimPrefix } from './scim-error.ts';

const schemaPrefix = 'urn:ietf:params:scim:schemas:core:2.0';
export const userSchema = `${schemaPrefix}:User`;
export const groupSchema = `${schemaPrefix}:Group`;
const listResponseSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const maxNameChars = 512;
/** Maximum number of resources on a page. */
const maxCount = 200;

/** Attributes that Parley sets or stores separately, in lower case. It does not store passwords. */
const managedAttributes: ReadonlySet<string> = new Set([
  ...['id', 'schemas', 'meta', 'groups', 'username', 'externalid', 'active', 'password'],
]);

/** Returns a user in the format of the API. */
export function toUserResource(user: ScimUser, groups: readonly ScimMember[]): JsonObject {
  const { id, userName, externalId, isActive, attributes } = user;
  const extensions = Object.keys(attributes).filter((name) => name.startsWith('urn:'));
  return {
    schemas: [userSchema, ...extensions],
    id,
    ...(externalId !== null && { externalId }),
    userName,
    active: isActive,
    ...attributes,
    groups: groups.map(({ groupId, groupName }) => ({
      value: groupId,
      display: groupName,
      $ref: `${scimPrefix}/Groups/${groupId}`,
    })),
    meta: toMeta('User', user),
  };
}

/** Returns a group in the format of the API. Omits its members if `members` is undefined. */
export function toGroupResource(group: ScimGroup, members: readonly ScimMember[] | undefined): JsonObject {
  const { id, displayName, externalId } = group;
  const items = members?.map(({ userId, userName }) => ({
    value: userId,
    display: userName,
    $ref: `${scimPrefix}/Users/${userId}`,
  }));
  return {
    schemas: [groupSchema],
    id,
    ...(externalId !== null && { externalId }),
    displayName,
    ...(items && { members: items }),
    meta: toMeta('Group', group),
  };
}

function toMeta(resourceType: 'User' | 'Group', { id, createdAtMs, updatedAtMs }: ScimUser | ScimGroup): JsonObject {
  return {
    resourceType,
    created: new Date(createdAtMs).toISOString(),
    lastModified: new Date(updatedAtMs).toISOString(),
    location: `${scimPrefix}/${resourceType}s/${id}`,
  };
}

export function toListResponse(total: number, startIndex: number, resources: readonly JsonObject[]): JsonObject {
  return { schemas: [listResponseSchema], totalResults: total, startIndex, itemsPerPage: resources.length, Resources: resources };
}

/** Returns the attributes of a user in a body. Microsoft Entra ID can send `active` as a string. Throws a SCIM error. */
export function readUser(body: JsonObject): Pick<ScimUser, 'userName' | 'externalId' | 'isActive' | 'attributes'> {
  const active = getMember(body, 'active') ?? true;
  const isActive = typeof active === 'string' ? { true: true, false: false }[active.toLowerCase()] : active;
  if (typeof isActive !== 'boolean') throw scimError('invalidValue', 'active must be true or false.');
  const attributes = Object.entries(body).filter(([name]) => !managedAttributes.has(name.toLowerCase()));
  return {
    userName: readName(body, 'userName'),
    externalId: readExternalId(body),
    isActive,
    attributes: Object.fromEntries(attributes),
  };
}

/** Returns the attributes of a group in a body, without its members. Throws a SCIM error. */
export function readGroup(body: JsonObject): Pick<ScimGroup, 'displayName' | 'externalId'> {
  return { displayName: readName(body, 'displayName'), externalId: readExternalId(body) };
}

function readName(body: JsonObject, attribute: string): string {
  const name = getMember(body, attribute);
  if (typeof name === 'string' && name.trim() !== '' && isShortText(name)) return name;
  throw scimError('invalidValue', `${attribute} must be a text of 1 to ${maxNameChars} characters without control characters.`);
}

function readExternalId(body: JsonObject): string | null {
  const id = getMember(body, 'externalId') ?? null;
  if (id === null || id === '') return null;
  if (typeof id === 'string' && isShortText(id)) return id;
  throw scimError('invalidValue', `externalId must be a text of at most ${maxNameChars} characters without control characters.`);
}

function isShortText(text: string): boolean {
  return text.length <= maxNameChars && !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** Returns the filter and the page of a list. Throws a SCIM error. */
export function readListQuery(query: Query, kind: 'User' | 'Group'): ScimQuery & { readonly startIndex: number } {
  const startIndex = Math.max(1, readInteger(query, 'startIndex', 1));
  const limit = Math.min(maxCount, Math.max(0, readInteger(query, 'count', maxCount)));
  return { filter: readFilter(query.filter, kind), offset: startIndex - 1, limit, startIndex };
}

function readFilter(text: unknown, kind: 'User' | 'Group'): ScimFilter | undefined {
  if (text === undefined || text === '') return undefined;
  if (typeof text !== 'string') throw scimError('invalidFilter', 'filter must not be sent twice.');
  const filter = parseFilter(text);
  requireFilterable(filter, kind);
  return filter;
}

function readInteger(query: Query, name: string, fallback: number): number {
  const text = query[name];
  if (text === undefined) return fallback;
  const value = typeof text === 'string' && /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
  if (value === undefined) throw scimError('invalidValue', `${name} must be an integer.`);
  return value;
}

/** Features of the SCIM service (RFC 7643, 5). */
export const serviceProviderConfig: JsonObject = {
  schemas: [`${schemaPrefix}:ServiceProviderConfig`],
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
export const resourceTypes: readonly Identified[] = [
  { name: 'User', schema: userSchema },
  { name: 'Group', schema: groupSchema },
].map(({ name, schema }) => ({
  schemas: [`${schemaPrefix}:ResourceType`],
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

function describeAttribute(name: string, type: string, options: AttributeOptions = {}): JsonObject {
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

const references = [
  describeAttribute('value', 'string', { isExact: true }),
  describeAttribute('display', 'string', { isReadOnly: true }),
];

/** Attributes that Parley uses (RFC 7643, 7). It stores and returns all other attributes of a user unchanged. */
export const schemas: readonly Identified[] = [
  {
    id: userSchema,
    name: 'User',
    attributes: [
      describeAttribute('userName', 'string', { isRequired: true, isUnique: true }),
      describeAttribute('externalId', 'string', { isExact: true }),
      describeAttribute('active', 'boolean'),
      describeAttribute('groups', 'complex', { isReadOnly: true, subAttributes: references }),
    ],
  },
  {
    id: groupSchema,
    name: 'Group',
    attributes: [
      describeAttribute('displayName', 'string', { isRequired: true, isUnique: true }),
      describeAttribute('externalId', 'string', { isExact: true }),
      describeAttribute('members', 'complex', { subAttributes: references }),
    ],
  },
].map((schema) => ({
  schemas: [`${schemaPrefix}:Schema`],
  ...schema,
  meta: { resourceType: 'Schema', location: `${scimPrefix}/Schemas/${schema.id}` },
}));
