import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { MemberChange } from '#domain/scim/scim-store.ts';
import { scimError } from './scim-error.ts';

const maxOperations = 1000;
const maxMembers = 10_000;
const coreUrn = /^urn:ietf:params:scim:schemas:core:2\.0:\w+:/i;
/** Attributes of an extension, such as `urn:…:enterprise:2.0:User:department`. */
const extensionPath = /^(urn:[\w.:-]{1,200}:2\.0:\w{1,50}):(.{1,500})$/i;
// Pattern bound: linear. Each part has other first characters than the part before it.
const attributePath =
  /^([A-Za-z][\w$-]{0,99})(?:\[\s*([A-Za-z][\w$-]{0,99})\s+eq\s+("(?:[^"\\]|\\.){0,500}"|true|false)\s*\])?(?:\.([A-Za-z][\w$-]{0,99}))?$/i;

/** An operation of a PATCH request (RFC 7644, 3.5.2). */
interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string | undefined;
  readonly value: unknown;
}

/** A path such as `emails[type eq "work"].value`. */
interface AttributePath {
  /** URN of an extension, which contains the attribute. */
  readonly extension: string | undefined;
  readonly attribute: string;
  readonly filter: { readonly attribute: string; readonly value: unknown } | undefined;
  readonly sub: string | undefined;
}

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
    if (path !== undefined) applyAt(patched, parsePath(path), { op, value });
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
    const parsed = path === undefined ? undefined : parsePath(path);
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
function toMemberChange({ op, value }: PatchOperation, path: AttributePath): MemberChange {
  if (path.filter !== undefined) return toFiltered(op, path);
  if (op === 'add') return { op, userIds: readMemberIds(value) };
  return op === 'remove' && value !== undefined
    ? { op, userIds: readMemberIds(value) }
    : { op: 'set', userIds: readMemberIds(value) };
}

function toFiltered(op: PatchOperation['op'], { filter }: AttributePath): MemberChange {
  if (op !== 'remove' || filter?.attribute.toLowerCase() !== 'value' || typeof filter.value !== 'string')
    throw scimError('invalidPath', 'Only a removal can select members, as in members[value eq "ID"].');
  return { op, userIds: [filter.value] };
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
function applyMember(resource: JsonObject, name: string, { op, value }: Omit<PatchOperation, 'path'>): void {
  if (/^urn:/i.test(name) && isJsonObject(value) && !coreUrn.test(`${name}:`)) {
    for (const [attribute, member] of Object.entries(value))
      applyAt(resource, parsePath(`${name}:${attribute}`), { op, value: member });
    return;
  }
  applyAt(resource, parsePath(name), { op, value });
}

function parsePath(path: string): AttributePath {
  const core = path.replace(coreUrn, '');
  const [, extension, inner = core] = extensionPath.exec(core) ?? [];
  const [, attribute, filterAttribute, filterValue, sub] = attributePath.exec(inner) ?? [];
  if (attribute === undefined)
    throw scimError(
      'invalidPath',
      `The path ${JSON.stringify(path.slice(0, 200))} is not supported. Use ATTRIBUTE, ATTRIBUTE.SUB, or ATTRIBUTE[SUB eq "VALUE"].SUB.`,
    );
  const value = filterValue === undefined ? undefined : toFilterValue(filterValue);
  return { extension, attribute, filter: filterAttribute === undefined ? undefined : { attribute: filterAttribute, value }, sub };
}

/** Returns the value of a literal in a filter: a string, or a boolean. */
export function toFilterValue(literal: string): unknown {
  if (!literal.startsWith('"')) return literal.toLowerCase() === 'true';
  return literal.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}

function applyAt(resource: JsonObject, path: AttributePath, { op, value }: Omit<PatchOperation, 'path'>): void {
  const container = path.extension === undefined ? resource : openObject(resource, path.extension);
  const name = findName(container, path.attribute);
  if (path.filter !== undefined) return applyToItems(container, name, path, { op, value });
  if (path.sub !== undefined)
    return applyTo(openObject(container, name), findName(openObject(container, name), path.sub), { op, value });
  applyTo(container, name, { op, value });
}

/** Applies an operation to the items of a list that the filter selects. An added or replaced item is created if it is missing. */
function applyToItems(
  container: JsonObject,
  name: string,
  path: AttributePath,
  { op, value }: Omit<PatchOperation, 'path'>,
): void {
  const { filter, sub } = path;
  if (filter === undefined) return;
  const list: unknown[] = Array.isArray(container[name]) ? container[name] : [];
  const isSelected = (item: unknown): item is JsonObject =>
    isJsonObject(item) && isDeepStrictEqual(item[findName(item, filter.attribute)], filter.value);
  if (op === 'remove' && sub === undefined) {
    container[name] = list.filter((item) => !isSelected(item));
    return;
  }
  const selected = list.filter(isSelected);
  if (selected.length === 0 && op !== 'remove') {
    const created: JsonObject = { [filter.attribute]: filter.value };
    list.push(created);
    selected.push(created);
  }
  container[name] = list;
  for (const item of selected) {
    if (sub !== undefined) applyTo(item, findName(item, sub), { op, value });
    else if (isJsonObject(value)) Object.assign(item, value);
    else throw scimError('invalidValue', `The value of ${path.attribute}[…] must be an object.`);
  }
}

function applyTo(container: JsonObject, name: string, { op, value }: Omit<PatchOperation, 'path'>): void {
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

/** Returns the name of an attribute as the resource spells it. */
function findName(container: JsonObject, attribute: string): string {
  const folded = attribute.toLowerCase();
  return Object.keys(container).find((name) => name.toLowerCase() === folded) ?? attribute;
}

/** Returns a member whose name ignores case. */
export function getMember(container: JsonObject, attribute: string): unknown {
  const name = findName(container, attribute);
  return Object.hasOwn(container, name) ? container[name] : undefined;
}
