import type { JsonObject } from '#base/json/json.ts';
import { QuickAppForm } from './form.ts';

/** Names of the settings that the form marks as public. */
const publicNames: ReadonlySet<string> = new Set(
  Object.entries(QuickAppForm.properties).flatMap(([name, schema]) =>
    'isPublic' in schema && schema.isPublic === true ? [name] : [],
  ),
);

/** Returns the settings of a quick app that every caller may read who may use it. */
export function toPublicProperties(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => publicNames.has(name)));
}
