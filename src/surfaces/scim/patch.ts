import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { findName, getMember, matchesFilter, type ScimFilter } from '#domain/scim/scim-filter.ts';
import type { MemberChange } from '#domain/scim/scim-store.ts';
import { listMemberIds, type PatchPath, parsePatchPath } from './filter.ts';
import { scimError } from './scim-error.ts';

const maxOperations = 1000;
const maxMembers = 10_000;

/** An operation of a PATCH request (RFC 7644, 3.5.2). */
interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string | undefined;
  readonly value: unknown;
}

type Change = Omit<PatchOperation, 'path'>;

/** Returns the operations of a PATCH body. Microsoft Entra ID sends `op` with a capital letter. Throws a SCIM error. */
export function readOperations(body: JsonObject): readonly PatchOperation[] {
  const operations = getMember(body, 'Operations');
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > maxOperations)
    throw scimError('invalidSyntax', `Operations must be a list of 1 to ${maxOperations} operations.`);
  return operations.map((operation, index) => {
    const { op, path, value } = isJsonObject(operation) ? operation : {};
    const name = typeof op === 'string' ? op.toLowerCase() : '';
    if (name !== 'add' && name !== 'replace' && name !== 'remove')
      throw scimError('invalidSyntax', `Operations[${index}].op must be add, replace, or remove.`);
    if (path !== undefined && typeof path !== 'string')
      throw scimError('invalidPath', `Operations[${index}].path must be a string.`);
    if (name === 'remove' && path === undefined)
      throw scimError('noTarget', `Operations[${index}].path is missing. A removal needs the path of the attribute.`);
    return { op: name, path, value };
  });
}

/** Returns a copy of a resource with the operations applied. Names of attributes ignore case. Throws a SCIM error. */
export function patchResource(resource: JsonObject, operations: readonly PatchOperation[]): JsonObject {
  const patched = structuredClone(resource);
  for (const { op, path, value } of operations) {
    if (path !== undefined) applyAt(patched, parsePatchPath(path), { op, value });
    else if (!isJsonObject(value)) throw scimError('invalidValue', 'An operation without a path needs an object as its value.');
    else for (const [name, member] of Object.entries(value)) applyMember(patched, name, { op, value: member });
  }
  return patched;
}

/** Result of the operations on a group. */
export interface GroupPatch {
  /** Changed attributes of the group, without its members. */
  readonly attributes: JsonObject;
  readonly members: readonly MemberChange[];
}

/** Separates changes of members from changes of attributes. Throws a SCIM error. */
export function patchGroup(attributes: JsonObject, operations: readonly PatchOperation[]): GroupPatch {
  const members: MemberChange[] = [];
  let patched = attributes;
  for (const operation of operations) {
    const { path, value } = operation;
    const parsed = path === undefined ? undefined : parsePatchPath(path);
    if (parsed?.attribute.toLowerCase() === 'members') {
      members.push(toMemberChange(operation, parsed));
    } else if (parsed !== undefined || !isJsonObject(value)) {
      patched = patchResource(patched, [operation]);
    } else {
      const { found, attributes: changed } = splitMember(value, 'members');
      patched = patchResource(patched, [{ ...operation, value: changed }]);
      if (found !== undefined) members.push({ op: operation.op === 'add' ? 'add' : 'set', userIds: readMemberIds(found) });
    }
  }
  return { attributes: patched, members };
}

/** Microsoft Entra ID can send the removed members as the value. A removal without a value removes all members. */
function toMemberChange({ op, value }: PatchOperation, path: PatchPath): MemberChange {
  if (path.filter !== undefined) return toFiltered(op, path.filter);
  if (op === 'add') return { op, userIds: readMemberIds(value) };
  return op === 'remove' && value !== undefined
    ? { op, userIds: readMemberIds(value) }
    : { op: 'set', userIds: readMemberIds(value) };
}

function toFiltered(op: PatchOperation['op'], filter: ScimFilter): MemberChange {
  const userIds = op === 'remove' ? listMemberIds(filter) : undefined;
  if (userIds === undefined) throw scimError('invalidPath', 'Only a removal can select members, as in members[value eq "ID"].');
  return { op: 'remove', userIds };
}

/** Returns the IDs of `members`: an object or a list of objects with `value`. Throws a SCIM error. */
export function readMemberIds(value: unknown): readonly string[] {
  const members = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  if (members.length > maxMembers)
    throw scimError('tooMany', `A request can contain at most ${maxMembers} members. Send more requests for larger groups.`);
  return members.map((member) => {
    const id = isJsonObject(member) ? member.value : member;
    if (typeof id !== 'string' || id === '' || id.length > 100)
      throw scimError('invalidValue', 'Each member must have the ID of a user as its value.');
    return id;
  });
}

function splitMember(value: JsonObject, name: string): { readonly found: unknown; readonly attributes: JsonObject } {
  const entries = Object.entries(value);
  const isNamed = ([key]: [string, unknown]) => key.toLowerCase() === name;
  return { found: entries.find(isNamed)?.[1], attributes: Object.fromEntries(entries.filter((entry) => !isNamed(entry))) };
}

/** Applies a member of a value without a path. Its name can be a path, or the URN of an extension. */
function applyMember(resource: JsonObject, name: string, { op, value }: Change): void {
  if (/^urn:/i.test(name) && isJsonObject(value)) {
    for (const [attribute, member] of Object.entries(value))
      applyAt(resource, parsePatchPath(`${name}:${attribute}`), { op, value: member });
    return;
  }
  applyAt(resource, parsePatchPath(name), { op, value });
}

function applyAt(resource: JsonObject, path: PatchPath, { op, value }: Change): void {
  const container = path.extension === undefined ? resource : openObject(resource, path.extension);
  const name = findName(container, path.attribute);
  if (path.filter !== undefined) return applyToItems(container, name, path, { op, value });
  if (path.sub !== undefined)
    return applyTo(openObject(container, name), findName(openObject(container, name), path.sub), { op, value });
  applyTo(container, name, { op, value });
}

/** Applies an operation to the items of a list that the filter selects. An added or replaced item is created if it is missing. */
function applyToItems(container: JsonObject, name: string, { filter, sub }: PatchPath, change: Change): void {
  if (filter === undefined) return;
  const { op, value } = change;
  const list: unknown[] = Array.isArray(container[name]) ? container[name] : [];
  const isSelected = (item: unknown): item is JsonObject => isJsonObject(item) && matchesFilter(filter, item);
  if (op === 'remove' && sub === undefined) {
    container[name] = list.filter((item) => !isSelected(item));
    return;
  }
  const selected = list.filter(isSelected);
  if (selected.length === 0 && op !== 'remove') {
    const created = createItem(filter);
    list.push(created);
    selected.push(created);
  }
  container[name] = list;
  for (const item of selected) {
    if (sub !== undefined) applyTo(item, findName(item, sub), change);
    else if (isJsonObject(value)) Object.assign(item, value);
    else throw scimError('invalidValue', `The value of ${name}[…] must be an object.`);
  }
}

/** Returns the item that a filter of equalities selects. Throws the SCIM error `noTarget` for other filters. */
function createItem(filter: ScimFilter): JsonObject {
  if (filter.op === 'and') return Object.assign({}, ...filter.filters.map(createItem));
  if (filter.op === 'eq' && filter.path.sub === undefined) return { [filter.path.attribute]: filter.value };
  throw scimError('noTarget', 'No item matches the filter of the path.');
}

function applyTo(container: JsonObject, name: string, { op, value }: Change): void {
  const before = container[name];
  if (op === 'remove') delete container[name];
  else if (op === 'add' && Array.isArray(before)) {
    const added = (Array.isArray(value) ? value : [value]).filter(
      (item) => !before.some((existing) => isDeepStrictEqual(existing, item)),
    );
    container[name] = [...before, ...added];
  } else if (isJsonObject(before) && isJsonObject(value)) container[name] = { ...before, ...value };
  else container[name] = value;
}

function openObject(container: JsonObject, attribute: string): JsonObject {
  const name = findName(container, attribute);
  const existing = container[name];
  if (isJsonObject(existing)) return existing;
  const created: JsonObject = {};
  container[name] = created;
  return created;
}
