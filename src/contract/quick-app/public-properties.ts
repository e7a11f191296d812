import type { JsonObject } from '#base/json/json.ts';
import { QuickAppForm } from './form.ts';

/** Names of the settings that the form marks as public. */
const publicNames: ReadonlySet<string> = new Set(
  Object.entries(QuickAppForm.properties).flatMap(([name, schema]) =>
    'isPublic' in schema && schema.isPublic === true ? [name] : [],
  ),
);

/** Returns the settings that every caller with access to the quick app may read. */
export function toPublicProperties(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => publicNames.has(name)));
}
