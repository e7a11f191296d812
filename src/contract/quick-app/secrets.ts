import type { JsonObject } from '#base/json/json.ts';
import type { Issue, Path } from '../configuration/issue.ts';
import { maskedSecret, readSchema, replaceSecrets } from '../configuration/schema-node.ts';
import { isHttpUrl } from '../configuration/values.ts';
import { QuickAppForm } from './form.ts';

/** Returns the settings of a quick app with masked secrets. */
export function maskSecrets(properties: JsonObject): JsonObject {
  return replaceSecrets(readSchema(QuickAppForm), properties, () => maskedSecret) as JsonObject;
}

/** Returns the settings of a quick app without secrets. */
export function removeSecrets(properties: JsonObject): JsonObject {
  return replaceSecrets(readSchema(QuickAppForm), properties, () => undefined) as JsonObject;
}

/** Returns all secrets in the settings of a quick app. */
export function listSecrets(properties: JsonObject): readonly string[] {
  const secrets: string[] = [];
  replaceSecrets(readSchema(QuickAppForm), properties, (secret) => {
    if (typeof secret === 'string') secrets.push(secret);
    return secret;
  });
  return secrets;
}

/**
 * Replaces masked secrets with the stored secrets of the toolset with the same name. It is an error if no secret is stored, or if
 * the toolset now calls another server. Without this rule, users who can change the settings could read the secrets.
 */
export function restoreSecrets(
  properties: JsonObject,
  stored: JsonObject | undefined,
): { properties: JsonObject; errors: readonly Issue[] } {
  const errors: Issue[] = [];
  const merged = replaceSecrets(readSchema(QuickAppForm), properties, (secret, path) => {
    if (secret !== maskedSecret) return secret;
    const storedSecret = findStoredValue(path, properties, stored);
    const reason =
      typeof storedSecret === 'string'
        ? findRejectionReason(path, properties, stored)
        : `${maskedSecret} does not refer to a stored secret`;
    if (reason === undefined) return storedSecret;
    errors.push({ path, message: `must be entered again: ${reason}` });
    return secret;
  });
  return { properties: merged as JsonObject, errors };
}

/** Returns the stored value at a path. List items with a name are matched by name. */
function findStoredValue(path: Path, input: unknown, stored: unknown): unknown {
  const [key, ...innerPath] = path;
  if (key === undefined) return stored;
  if (!isContainer(input) || !isContainer(stored)) return undefined;
  const next = input[key];
  const name = isContainer(next) ? next.name : undefined;
  const isNamed = Array.isArray(stored) && typeof name === 'string';
  const before = isNamed ? stored.find((item) => isContainer(item) && item.name === name) : stored[key];
  return findStoredValue(innerPath, next, before);
}

/** Number of path segments of a toolset, such as `mcp_toolset[0]`: its list and its index. */
export const toolsetDepth = 2;

/** Returns the reason why a stored secret does not apply to the current toolset, or undefined if it applies. */
function findRejectionReason(path: Path, properties: JsonObject, stored: unknown): string | undefined {
  const toolsetPath = path.slice(0, toolsetDepth);
  const knownOrigins = new Set(listOrigins(findStoredValue(toolsetPath, properties, stored)));
  const toolset = toolsetPath.reduce<unknown>((value, key) => (isContainer(value) ? value[key] : undefined), properties);
  const newOrigin = [...listOrigins(toolset)].find((origin) => !knownOrigins.has(origin));
  return newOrigin === undefined ? undefined : `${newOrigin} was not in the toolset when it was saved`;
}

/** Yields the origin of every URL in a value. */
function* listOrigins(value: unknown): Iterable<string> {
  if (typeof value === 'string' && isHttpUrl(value)) yield new URL(value).origin;
  if (isContainer(value)) for (const member of Object.values(value)) yield* listOrigins(member);
}

/** Returns whether a value is an object or an array. */
export function isContainer(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null;
}
