import {
  type ApiResponse,
  anyObject,
  buildArray,
  buildObject,
  inPath,
  inQuery,
  json,
  listOperations,
  type NamedSchema,
  nameObject,
  nameSchema,
  type OperationTable,
  reply,
  text,
} from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames } from '../http/openapi/operation-examples.ts';
import { groupSchema, userSchema } from './resources.ts';
import { scimErrorShape, scimMediaType, scimPrefix } from './scim-error.ts';

function replyScim(status: number, description: string, schema: NamedSchema): ApiResponse {
  return { status, description, content: [{ type: scimMediaType, schema }] };
}

function toResource(name: string, property: string): NamedSchema {
  const fields = { schemas: buildArray(text), id: text, externalId: text, [property]: text, meta: anyObject };
  return nameSchema(name, { ...buildObject(fields, ['externalId']), additionalProperties: true });
}

function toList(name: string): NamedSchema {
  const integer = { type: 'integer' };
  const counts = { totalResults: integer, startIndex: integer, itemsPerPage: integer };
  return nameObject(name, { schemas: buildArray(text), ...counts, Resources: buildArray(anyObject) });
}

const definitionSchema = buildObject({ schemas: buildArray(text) });
const definition = nameSchema('ScimDefinition', { ...definitionSchema, additionalProperties: true });
const patchOperation = { op: { ...text, description: '`add`, `replace`, or `remove`.' }, path: text, value: {} };
const Operations = buildArray(buildObject(patchOperation, ['path', 'value']));
const patch = nameObject('ScimPatch', { schemas: buildArray(text), Operations }, ['schemas']);

/** A kind of resource. */
interface Kind {
  /** Name in IDs of operations. */
  readonly name: 'User' | 'Group';
  readonly nameAttribute: string;
  readonly example: string;
  readonly body: object;
  readonly operation: object;
}

function describeKind({ name, nameAttribute, example, body: exampleBody, operation }: Kind): OperationTable {
  const noun = name.toLowerCase();
  const base = `${scimPrefix}/${name}s`;
  const path = `${base}/{${noun}}`;
  const resource = toResource(`Scim${name}`, nameAttribute);
  const body = json(
    { name: `Scim${name}Body`, schema: { type: 'object', additionalProperties: true } },
    { [noun]: { summary: `A ${noun}`, value: exampleBody } },
  );
  const idParameter = inPath(noun, `ID of the ${noun}.`, example);
  const exclusion =
    name === 'Group' ? [inQuery('excludedAttributes', '`members` omits the members.', { example: 'members' })] : [];
  return {
    [`get ${base}`]: {
      id: `listScim${name}s`,
      summary: `Lists provisioned ${noun}s`,
      parameters: [
        inQuery('filter', 'Filter of RFC 7644, 3.4.2.2, at most 2,000 characters.', {
          example: `${nameAttribute} eq "ada"`,
        }),
        inQuery('startIndex', 'Position of the first resource, from 1.', { schema: { type: 'integer', default: 1 }, example: 1 }),
        inQuery('count', 'Maximum number of resources, at most 200.', { schema: { type: 'integer', default: 200 }, example: 10 }),
        ...exclusion,
      ],
      responses: [replyScim(200, 'A page.', toList(`Scim${name}List`))],
      errors: ['invalid_request'],
    },
    [`post ${base}`]: {
      id: `createScim${name}`,
      summary: `Provisions a ${noun}`,
      body,
      responses: [replyScim(201, `The ${noun} is created.`, resource)],
      errors: [...bodyErrors, 'name_taken'],
    },
    [`get ${path}`]: {
      id: `getScim${name}`,
      summary: `Returns a provisioned ${noun}`,
      parameters: [idParameter, ...exclusion],
      responses: [replyScim(200, `The ${noun}.`, resource)],
      errors: ['resource_not_found'],
    },
    [`put ${path}`]: {
      id: `replaceScim${name}`,
      summary: `Replaces a provisioned ${noun}`,
      parameters: [idParameter],
      body,
      responses: [replyScim(200, `The ${noun}.`, resource)],
      errors: [...bodyErrors, 'name_taken', 'resource_not_found'],
    },
    [`patch ${path}`]: {
      id: `patchScim${name}`,
      summary: `Changes a provisioned ${noun}`,
      parameters: [idParameter],
      body: json(patch, { change: { summary: 'One change', value: { Operations: [operation] } } }),
      responses: [replyScim(200, `The ${noun}.`, resource)],
      errors: [...bodyErrors, 'name_taken', 'resource_not_found'],
    },
    [`delete ${path}`]: {
      id: `deleteScim${name}`,
      summary: `Deletes a provisioned ${noun}`,
      ...(name === 'User' && { description: 'The user is blocked, like a user with `active: false`.' }),
      parameters: [idParameter],
      responses: [reply(204, `The ${noun} is deleted.`)],
      errors: ['invalid_request', 'resource_not_found'],
    },
  };
}

function describeDefinitions(path: string, noun: string, example: string): OperationTable {
  const suffix = path.slice(1);
  return {
    [`get ${scimPrefix}${path}`]: {
      id: `listScim${suffix}`,
      summary: `Lists the ${noun}s of the SCIM service`,
      responses: [replyScim(200, 'The definitions.', toList(`Scim${suffix}List`))],
    },
    [`get ${scimPrefix}${path}/{name}`]: {
      id: `getScim${suffix}`,
      summary: `Returns a ${noun} of the SCIM service`,
      parameters: [inPath('name', 'ID of the definition.', example)],
      responses: [replyScim(200, 'The definition.', definition)],
      errors: ['resource_not_found'],
    },
  };
}

const shared = { tag: 'Provisioning', errors: [...keyErrors, 'access_denied'], errorShape: scimErrorShape } as const;

/** Operations for provisioning of users and groups, for keys with the role `scim`. */
export const scimOperations = listOperations(shared, {
  [`get ${scimPrefix}/ServiceProviderConfig`]: {
    id: 'getScimServiceProviderConfig',
    summary: 'Returns the features of the SCIM service',
    responses: [replyScim(200, 'The features.', definition)],
  },
  ...describeDefinitions('/ResourceTypes', 'resource type', 'User'),
  ...describeDefinitions('/Schemas', 'schema', userSchema),
  ...describeKind({
    name: 'User',
    nameAttribute: 'userName',
    example: exampleNames.scimUser,
    body: { schemas: [userSchema], userName: 'grace', active: true },
    operation: { op: 'replace', path: 'active', value: false },
  }),
  ...describeKind({
    name: 'Group',
    nameAttribute: 'displayName',
    example: exampleNames.scimGroup,
    body: { schemas: [groupSchema], displayName: 'Editors', members: [{ value: exampleNames.scimUser }] },
    operation: { op: 'add', path: 'members', value: [{ value: exampleNames.scimUser }] },
  }),
});
