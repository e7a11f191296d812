import type { JsonObject } from '#base/json/json.ts';
import { capitalize } from '#base/text/sentence.ts';
import { type EntryKind, entryKindNames, entryKinds } from '#contract/administration/entry-kinds.ts';
import type { ErrorCode } from '#contract/errors/errors.ts';
import { AdminKeyRotation, FirstStartBody, NewAdminKey } from '#contract/key-requests.ts';
import {
  anyObject,
  buildArray,
  buildObject,
  buildPage,
  inHeader,
  inPath,
  inQuery,
  json,
  listOperations,
  moment,
  nameObject,
  nameSchema,
  type OperationTable,
  orNull,
  reply,
  text,
} from '../../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../../http/openapi/operation-errors.ts';
import { exampleNames } from '../../http/openapi/operation-examples.ts';
import { limitUsage } from '../../http/openapi/shared-schemas.ts';
import { paging } from '../openapi.ts';

const entry = nameSchema('AdminEntry', {
  type: 'object',
  required: ['id', 'source', 'etag'],
  additionalProperties: true,
  description: 'The entry as in the configuration, with `***` in place of secrets, and these fields.',
  properties: {
    id: text,
    source: { enum: ['file', 'runtime'], description: '`file`: the entry is in a configuration file, which takes precedence.' },
    etag: { ...text, description: 'ETag without quotes. It changes with each save.' },
    createdAt: moment,
    updatedAt: moment,
    prefix: { ...text, description: 'First characters of a key that Parley created.' },
    lastUsedAt: {
      type: ['integer', 'null'],
      description: 'Time of the last request with a key. Absent for keys whose name is the secret.',
    },
  },
});

const entryBody = nameSchema('AdminEntryBody', {
  type: 'object',
  additionalProperties: true,
  description: 'The entry as in a configuration file. The response of a GET is accepted too.',
});

/** Returns the ID of the run-time entry of a kind that the examples use. */
export function toEntryExample(kind: EntryKind): string {
  return kind === 'limit-resets' ? 'project:runtime' : `runtime-${kind}`;
}

/** Returns the ID of the entry of the files that the examples use. */
export function toFileEntryExample(kind: EntryKind): string {
  return kind === 'limit-resets' ? 'project:file' : `file-${kind}`;
}

const write = nameObject('AdminWrite', {
  kind: { enum: entryKindNames },
  id: text,
  action: { enum: ['created', 'updated', 'deleted'] },
  differences: buildArray(
    buildObject({ path: { ...text, description: 'Path in the configuration.' }, before: {}, after: {} }, ['before', 'after']),
  ),
});

const applied = nameObject('AdminApplied', {
  object: { const: 'list' },
  dryRun: { type: 'boolean' },
  change: orNull('string', 'ID of the change. Null if no entry was stored.'),
  data: buildArray(write),
});

const change = nameObject('AdminChange', {
  id: text,
  at: moment,
  user: { ...text, description: 'Administrator who made the change.' },
  action: { enum: ['saved', 'deleted', 'applied', 'rotated', 'reset', 'rolled_back'] },
  undoes: orNull('string', 'ID of the change that this change undoes.'),
  entryCount: { type: 'integer' },
  entries: { ...buildArray(write), description: 'In a list, the first 20 entries.' },
});

const document = nameSchema('AdminDocument', {
  type: 'object',
  description: 'Entries by kind and ID, as in a configuration file.',
  additionalProperties: true,
  properties: Object.fromEntries(entryKindNames.map((kind) => [entryKinds[kind].section, anyObject])),
});

const flag = (name: string, description: string) =>
  inQuery(name, description, { schema: { type: 'boolean', default: false }, example: false });
const ifMatch = inHeader('If-Match', 'ETag. The entry must have it. Otherwise, the response is 412.', { example: '*' });
const changeErrors = ['invalid_request', 'configured_in_file', 'in_use', 'key_revoked', 'last_administrator'] as const;
const inChange = inPath('change', 'ID of the change.', exampleNames.adminChange);

function describeKind(kind: EntryKind): OperationTable {
  const { name, section } = entryKinds[kind];
  const suffix = capitalize(section);
  const path = `/v1/admin/${kind}/{entry}`;
  const inEntry = inPath('entry', `ID of the ${name}, percent-encoded.`, toEntryExample(kind));
  const kindOperations: OperationTable =
    kind === 'keys'
      ? {}
      : {
          [`get /v1/admin/${kind}`]: {
            id: `listAdmin${suffix}`,
            summary: `Lists the ${name}s of the files and those created at run time, by ID`,
            parameters: paging,
            responses: [reply(200, 'A page.', { name: 'AdminEntryPage', schema: buildPage(entry) })],
            errors: ['invalid_request'],
          },
          [`delete ${path}`]: {
            id: `deleteAdmin${suffix}`,
            summary: `Deletes one of the ${name}s that were created at run time`,
            parameters: [inEntry, flag('force', 'Deletes the entry although other entries need it.'), ifMatch],
            responses: [reply(204, 'The entry is deleted.')],
            errors: [...changeErrors, 'entry_not_found', 'precondition_failed'],
          },
        };
  return {
    ...kindOperations,
    [`get ${path}`]: {
      id: `getAdmin${suffix}`,
      summary: `Returns one of the ${name}s`,
      parameters: [inEntry],
      responses: [reply(200, 'The entry.', entry)],
      errors: ['invalid_request', 'entry_not_found'],
    },
    [`put ${path}`]: {
      id: `putAdmin${suffix}`,
      summary: `Creates or replaces one of the ${name}s at run time`,
      description:
        'The change takes effect on all nodes within 1 s. A secret that is `***` or absent keeps its value if the address that receives it is unchanged. Null removes it. A blocked key stays blocked unless `disabled` is `false`.',
      parameters: [inEntry, flag('dryRun', 'Only validates the entry and returns the differences.'), ifMatch],
      body: json(entryBody, { example: { summary: `A ${name}`, value: entryExamples[kind] } }),
      responses: [
        reply(200, 'The replaced entry, or the differences.', { anyOf: [entry, applied] }),
        reply(201, 'The entry is created.', entry),
      ],
      errors: [...bodyErrors, ...changeErrors, 'precondition_failed'],
    },
    [`post ${path}/migrate`]: {
      id: `migrateAdmin${suffix}`,
      summary: `Copies one of the ${name}s of the files to run time`,
      description: 'The copy takes effect when the files no longer have the entry.',
      parameters: [inPath('entry', `ID of the ${name}, percent-encoded.`, toFileEntryExample(kind))],
      responses: [reply(200, 'The entry of the files.', entry)],
      errors: [...changeErrors, 'entry_not_found'],
    },
  };
}

/** Valid entries of each kind. */
export const entryExamples: Readonly<Record<EntryKind, JsonObject>> = {
  models: { upstreams: [{ protocol: 'demo' }] },
  applications: { endpoint: 'https://app.example/chat' },
  addons: { url: 'https://addon.example/openapi.json' },
  prompts: { content: 'Write a report about {{topic}}.' },
  roles: { limits: { '*': { minute: 1000 } } },
  projects: { costLimit: { month: 100 } },
  users: { costLimit: { month: 10 } },
  keys: { project: 'team', sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
  'identity-providers': { issuer: 'https://login.example', audience: 'parley' },
  'limit-resets': { at: '2026-12-01T00:00:00Z' },
};

const newKey = nameSchema('NewAdminKeyResponse', {
  type: 'object',
  required: ['id', 'key', 'prefix'],
  additionalProperties: true,
  properties: { id: text, key: { ...text, description: 'The key. It is never shown again.' }, prefix: text },
});

const kinds = nameObject('AdminKinds', {
  object: { const: 'list' },
  data: buildArray(
    buildObject({
      kind: { ...text, description: 'Name of the kind in paths.' },
      section: { ...text, description: 'Name of the kind in the configuration.' },
      schema: { ...anyObject, description: 'JSON Schema of an entry.' },
    }),
  ),
});

const scopeUsage = nameSchema('AdminLimitUsage', {
  type: 'object',
  required: ['object', 'of', 'data'],
  properties: {
    object: { const: 'list' },
    of: { ...text, description: '`project:…`, `key:…`, or `user:…`.' },
    role: text,
    data: { ...buildArray(limitUsage), description: 'Overall limits, and used limits of single deployments.' },
  },
});

const scopeReset = nameObject('AdminLimitReset', {
  of: text,
  at: { ...moment, description: 'Time of the reset, in milliseconds since the epoch.' },
  change: orNull('string'),
});

function describeLimits(kind: 'projects' | 'keys' | 'users'): OperationTable {
  const { name, section } = entryKinds[kind];
  const suffix = capitalize(name);
  const path = `/v1/admin/${kind}/{entry}`;
  const inEntry = inPath('entry', `ID of the ${name}, percent-encoded.`, toEntryExample(kind));
  const absentErrors: readonly ErrorCode[] = kind === 'users' ? [] : ['entry_not_found'];
  const inRole = inQuery('role', 'Role whose limits are listed in place of the limits of the user.', { example: 'default' });
  return {
    [`get ${path}/usage`]: {
      id: `getAdmin${suffix}Usage`,
      summary: `Returns the usage of the limits of one of the ${section}`,
      ...(kind === 'projects' && { description: 'Also for the owners of the project.' }),
      parameters: kind === 'users' ? [inEntry, inRole] : [inEntry],
      responses: [reply(200, 'The limits.', scopeUsage)],
      errors: ['invalid_request', ...absentErrors],
    },
    [`post ${path}/reset`]: {
      id: `resetAdmin${suffix}Usage`,
      summary: `Starts new windows for the limits of one of the ${section}`,
      description: 'The reset is a change. Its rollback restores the previous usage.',
      parameters: [inEntry],
      responses: [reply(200, 'The reset.', scopeReset)],
      errors: [...changeErrors, ...absentErrors],
    },
  };
}

const shared = { tag: 'Administration', errors: [...keyErrors, 'access_denied'] } as const;

/** The configuration at run time, for administrators. */
export const adminEntryOperations = listOperations(shared, {
  ...Object.assign({}, ...entryKindNames.map(describeKind)),
  'get /v1/admin/schema': {
    id: 'getAdminSchema',
    summary: 'Lists the kinds of entries with their JSON Schemas, for forms',
    responses: [reply(200, 'The kinds.', kinds)],
    errors: ['invalid_request'],
  },
  'post /v1/admin/keys': {
    id: 'createAdminKey',
    summary: 'Creates a key',
    description: 'An owner of a project can create keys in it, with roles that the owner has.',
    body: json(
      { name: 'NewAdminKey', schema: NewAdminKey },
      { key: { summary: 'A key of a project', value: { project: 'team' } } },
    ),
    responses: [reply(201, 'The key is created.', newKey)],
    errors: [...bodyErrors, ...changeErrors, 'too_many_keys'],
  },
  ...describeLimits('projects'),
  ...describeLimits('keys'),
  ...describeLimits('users'),
  'post /v1/admin/keys/{entry}/rotate': {
    id: 'rotateAdminKey',
    summary: 'Replaces the secret of a key',
    description: 'The ID and the used limits stay. The previous secret stays valid for `overlapSeconds`.',
    parameters: [inPath('entry', 'ID of the key.', toEntryExample('keys'))],
    body: json(
      { name: 'AdminKeyRotation', schema: AdminKeyRotation },
      { overlap: { summary: 'With an overlap of an hour', value: { overlapSeconds: 3600 } } },
    ),
    responses: [reply(200, 'The new secret.', newKey)],
    errors: [...bodyErrors, ...changeErrors, 'entry_not_found'],
  },
  'post /v1/admin/first-start': {
    id: 'createFirstAdminKey',
    summary: 'Exchanges the one-time token for an admin key',
    description:
      'While no administrator exists, each node logs a token at its start. It works once, on that node. The response contains the key, which is never shown again.',
    isOpen: true,
    body: json(
      { name: 'FirstStart', schema: FirstStartBody },
      { token: { summary: 'The token of the log', value: { token: exampleNames.firstStartToken } } },
    ),
    responses: [reply(201, 'The key is created.', { name: 'FirstAdminKey', schema: buildObject({ id: text, key: text }) })],
    errors: [...bodyErrors, 'invalid_request', 'invalid_token', 'administrator_exists', 'overloaded', 'shutting_down'],
  },
  'post /v1/admin/apply': {
    id: 'applyAdminDocument',
    summary: 'Stores all entries of a document in one change',
    description: 'No entry is stored if one is invalid. Entries that do not change are not written.',
    parameters: [
      flag('dryRun', 'Only validates the document and returns the differences.'),
      flag('prune', 'Deletes entries that the sections of the document lack, except keys that Parley or users created.'),
    ],
    body: json(document, { models: { summary: 'One model', value: { models: { small: entryExamples.models } } } }),
    responses: [reply(200, 'The writes.', applied)],
    errors: [...bodyErrors, ...changeErrors],
  },
  'get /v1/admin/export': {
    id: 'exportAdminDocument',
    summary: 'Returns all entries that were created at run time',
    description: 'Secrets are `***`. Keys have their digests.',
    responses: [reply(200, 'A document.', document)],
  },
  'get /v1/admin/changes': {
    id: 'listAdminChanges',
    summary: 'Lists the changes at run time, the latest first',
    parameters: paging,
    responses: [reply(200, 'A page.', { name: 'AdminChangePage', schema: buildPage(change) })],
    errors: ['invalid_request'],
  },
  'get /v1/admin/changes/{change}': {
    id: 'getAdminChange',
    summary: 'Returns a change',
    parameters: [inChange],
    responses: [reply(200, 'The change.', change)],
    errors: ['change_not_found'],
  },
  'post /v1/admin/changes/{change}/rollback': {
    id: 'rollBackAdminChange',
    summary: 'Undoes a change, as a new change',
    description: 'A key that was deleted, blocked, expired, or replaced does not become valid again.',
    parameters: [inChange],
    responses: [reply(200, 'The writes.', nameObject('AdminRolledBack', { change: orNull('string'), data: buildArray(write) }))],
    errors: [...changeErrors, 'change_not_found', 'change_overwritten'],
  },
});
