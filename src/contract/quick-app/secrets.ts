import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Issue, Path } from '../configuration/issue.ts';
import { getChild, getForm, readSchema, type SchemaNode } from '../configuration/schema-node.ts';
import { isHttpUrl } from '../configuration/values.ts';
import { QuickAppForm } from './form.ts';

/** Stands for a secret that is not shown; sent back, it means the one that is stored. */
const hidden = '***';

/** The settings of a quick app with every secret hidden. */
export function hideSecrets(properties: JsonObject): JsonObject {
  return replaceSecrets(readSchema(QuickAppForm), properties, () => hidden) as JsonObject;
}

/** The settings of a quick app with every secret left out. */
export function leaveOutSecrets(properties: JsonObject): JsonObject {
  return replaceSecrets(readSchema(QuickAppForm), properties, () => undefined) as JsonObject;
}

/** Every secret of the settings, wherever it stands. */
export function listSecrets(properties: JsonObject): readonly string[] {
  const secrets: string[] = [];
  replaceSecrets(readSchema(QuickAppForm), properties, (secret) => {
    if (typeof secret === 'string') secrets.push(secret);
    return secret;
  });
  return secrets;
}

/**
 * The settings with what is hidden in them taken from those stored, at the same place of the toolset of the same name. What is
 * not there is a fault, and so is a toolset that calls another server now: who may change settings may not read its secrets.
 */
export function keepSecrets(
  properties: JsonObject,
  stored: JsonObject | undefined,
): { properties: JsonObject; faults: readonly Issue[] } {
  const faults: Issue[] = [];
  const merged = replaceSecrets(readSchema(QuickAppForm), properties, (secret, path) => {
    if (secret !== hidden) return secret;
    const before = storedAt(path, properties, stored);
    const why =
      typeof before === 'string' ? whyMoved(path, properties, stored) : `no secret is stored here that ${hidden} could stand for`;
    if (why === undefined) return before;
    faults.push({ path, message: `must be given anew: ${why}` });
    return secret;
  });
  return { properties: merged as JsonObject, faults };
}

/** What is stored at a place; items of lists that have names are found by them. */
function storedAt(path: Path, input: unknown, stored: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return stored;
  if (!isContainer(input) || !isContainer(stored)) return undefined;
  const next = input[key];
  const name = isContainer(next) ? next.name : undefined;
  const isNamed = Array.isArray(stored) && typeof name === 'string';
  const before = isNamed ? stored.find((item) => isContainer(item) && item.name === name) : stored[key];
  return storedAt(rest, next, before);
}

/** How deep the toolset stands that a secret is part of: its list, its index. */
const toolsetDepth = 2;

/** Why a stored secret is not meant for the toolset as it is now; undefined if it is. */
function whyMoved(path: Path, properties: JsonObject, stored: unknown): string | undefined {
  const toolsetPath = path.slice(0, toolsetDepth);
  const knownOrigins = new Set(originsIn(storedAt(toolsetPath, properties, stored)));
  const toolset = toolsetPath.reduce<unknown>((value, key) => (isContainer(value) ? value[key] : undefined), properties);
  const newOrigin = [...originsIn(toolset)].find((origin) => !knownOrigins.has(origin));
  return newOrigin === undefined ? undefined : `${newOrigin} was not there when it was given`;
}

/** Of every address in a value. */
function* originsIn(value: unknown): Iterable<string> {
  if (typeof value === 'string' && isHttpUrl(value)) yield new URL(value).origin;
  if (isContainer(value)) for (const member of Object.values(value)) yield* originsIn(member);
}

function isContainer(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null;
}

type Replace = (secret: unknown, path: Path) => unknown;

function replaceSecrets(schema: SchemaNode, value: unknown, replace: Replace, path: Path = []): unknown {
  const node = getForm(schema, value);
  if (node.writeOnly === true) return replace(value, path);
  if (Array.isArray(value))
    return value.map((item, index) => replaceSecrets(getChild(node, index), item, replace, [...path, index]));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = Object.create(null);
  for (const [key, member] of Object.entries(value))
    copy[key] = replaceSecrets(getChild(node, key), member, replace, [...path, key]);
  return copy;
}
