import { isJsonObject, type JsonObject, toCanonicalText, toObject } from '#base/json/json.ts';
import { isStorableText } from '#base/text/storable-key.ts';
import { findName, getMember, matchesFilter, type ScimFilter } from '#domain/scim/scim-filter.ts';
import type { MemberChange } from '#domain/scim/scim-store.ts';
import { listMemberIds, type PatchPath, parsePatchPath } from './filter.ts';
import { scimError } from './scim-error.ts';

const maxOperations = 1000;
/** Maximum number of attributes that one request changes. Each change of a user searches all attributes of the user. */
const maxChanges = { user: 100, group: 1000 };
/** Maximum number of items in a list that a request changes. Each change compares all items. */
const maxItems = 100;
const maxMembers = 10_000;

/** An operation of a PATCH request (RFC 7644, 3.5.2). */
interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string | undefined;
  readonly value: unknown;
}

/** A change of one attribute. */
interface Change extends Omit<PatchOperation, 'path'> {
  readonly path: PatchPath;
}

/** Returns the operations of a PATCH body. Microsoft Entra ID capitalizes `op`. Throws a SCIM error. */
export function readOperations(body: JsonObject): readonly PatchOperation[] {
  const operations = getMember(body, 'Operations');
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > maxOperations)
    throw scimError('invalidSyntax', `Operations must be a list of 1 to ${maxOperations} operations.`);
  return operations.map((operation, index) => {
    const { op, path, value } = toObject(operation);
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

/** Yields the changes of the operations. Throws a SCIM error. */
function* listChanges(operations: readonly PatchOperation[], kind: keyof typeof maxChanges): Iterable<Change> {
  let count = 0;
  for (const operation of operations) {
    for (const change of toChanges(operation)) {
      count += 1;
      if (count > maxChanges[kind])
        throw scimError('tooMany', `A request can change at most ${maxChanges[kind]} attributes of a ${kind}.`);
      yield change;
    }
  }
}

/** Yields the changes of an operation. Without a path, the keys of its value are paths or URNs of extensions. */
function* toChanges({ op, path, value }: PatchOperation): Iterable<Change> {
  if (path !== undefined) return yield { op, path: parsePatchPath(path), value };
  if (!isJsonObject(value)) throw scimError('invalidValue', 'An operation without a path needs an object as its value.');
  for (const [name, member] of Object.entries(value)) {
    if (/^urn:/i.test(name) && isJsonObject(member))
      for (const [attribute, inner] of Object.entries(member))
        yield { op, path: parsePatchPath(`${name}:${attribute}`), value: inner };
    else yield { op, path: parsePatchPath(name), value: member };
  }
}

/** Returns a copy of a user with the operations applied. Names of attributes ignore case. Throws a SCIM error. */
export function patchUser(user: JsonObject, operations: readonly PatchOperation[]): JsonObject {
  const patched = structuredClone(user);
  for (const change of listChanges(operations, 'user')) applyAt(patched, change);
  return patched;
}

/** Result of the operations on a group. */
export interface GroupPatch {
  /** Changed attributes of the group, without its members. */
  readonly attributes: JsonObject;
  readonly members: readonly MemberChange[];
}

/** Separates changes of members from changes of attributes. Ignores attributes that a group does not store. Throws a SCIM error. */
export function patchGroup(attributes: JsonObject, operations: readonly PatchOperation[]): GroupPatch {
  const members: MemberChange[] = [];
  const patched = { ...attributes };
  for (const change of listChanges(operations, 'group')) {
    const { op, path, value } = change;
    const name = groupAttributes.get(path.attribute.toLowerCase());
    if (name === 'members') members.push(toMemberChange(change));
    else if (name === undefined) continue;
    else if (path.filter !== undefined || path.sub !== undefined)
      throw scimError('invalidPath', `${name} has no parts that a path can select.`);
    else if (op === 'remove') delete patched[name];
    else patched[name] = value;
  }
  return { attributes: patched, members };
}

/** Attributes of a group that Parley stores, by their names in lower case. */
const groupAttributes: ReadonlyMap<string, 'displayName' | 'externalId' | 'members'> = new Map([
  ['displayname', 'displayName'],
  ['externalid', 'externalId'],
  ['members', 'members'],
]);

/** Converts a change of `members`. Microsoft Entra ID can send removed members as the value. Without a value, all are removed. */
function toMemberChange({ op, path, value }: Change): MemberChange {
  if (path.filter !== undefined) return toFilteredRemoval(op, path.filter);
  if (op === 'add') return { op, userIds: readMemberIds(value) };
  return op === 'remove' && value !== undefined
    ? { op, userIds: readMemberIds(value) }
    : { op: 'set', userIds: readMemberIds(value) };
}

function toFilteredRemoval(op: PatchOperation['op'], filter: ScimFilter): MemberChange {
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
    if (typeof id !== 'string' || id === '' || id.length > 100 || !isStorableText(id))
      throw scimError('invalidValue', 'Each member must have the ID of a user as its value.');
    return id;
  });
}

function applyAt(resource: JsonObject, change: Change): void {
  const { op } = change;
  const { extension, attribute, filter, sub } = change.path;
  const container = extension === undefined ? resource : getObject(resource, extension, op);
  if (container === undefined) return;
  if (filter !== undefined) return applyToItems(container, filter, change);
  if (sub === undefined) return applyTo(container, attribute, change);
  const parent = getObject(container, attribute, op);
  if (parent !== undefined) applyTo(parent, sub, change);
}

/** Applies an operation to the items of a list that the filter selects. An added or replaced item is created if it is missing. */
function applyToItems(container: JsonObject, filter: ScimFilter, change: Change): void {
  const { op, value } = change;
  const { attribute, sub } = change.path;
  const name = findName(container, attribute);
  if (op === 'remove' && !Array.isArray(container[name])) return;
  const list: unknown[] = Array.isArray(container[name]) ? container[name] : [];
  requireFewItems(list.length);
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
    if (sub !== undefined) applyTo(item, sub, change);
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

function applyTo(container: JsonObject, attribute: string, { op, value }: Change): void {
  const name = findName(container, attribute);
  const before = container[name];
  if (op === 'remove') delete container[name];
  else if (op === 'add' && Array.isArray(before)) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    requireFewItems(before.length + items.length);
    const existing = new Set(before.map(toCanonicalText));
    container[name] = [...before, ...items.filter((item) => !existing.has(toCanonicalText(item)))];
  } else if (isJsonObject(before) && isJsonObject(value)) container[name] = { ...before, ...value };
  else container[name] = value;
}

/** Throws a SCIM error if a list is too long for a change of its items. */
function requireFewItems(count: number): void {
  if (count > maxItems)
    throw scimError('tooMany', `A list can have at most ${maxItems} items if a request changes them. Replace the complete list.`);
}

/** Returns the object at an attribute, and creates a missing one unless the operation is a removal. */
function getObject(container: JsonObject, attribute: string, op: PatchOperation['op']): JsonObject | undefined {
  const name = findName(container, attribute);
  const existing = container[name];
  if (isJsonObject(existing)) return existing;
  if (op === 'remove') return undefined;
  const created: JsonObject = {};
  container[name] = created;
  return created;
}
