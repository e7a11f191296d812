import type { JsonObject } from '#base/json.ts';
import { useBuilderWords } from './builder-words.ts';
import { fieldTrail } from './field-trail.ts';
import { titleOf } from './properties.tsx';
import { useSchemaWords } from './schema-words.ts';

const settings = 'applicationProperties.';

/** Gives the way to a field of an application in words; `schema` is that of its settings. */
export function useFieldTrail(schema: JsonObject | undefined, entry: JsonObject | undefined): (field: string) => string {
  const words = useBuilderWords();
  const say = useSchemaWords();
  const { name, description, iconUrl, role } = words;
  const general = new Map(Object.entries({ displayName: name, description, iconUrl, userRoles: role }));
  return (field) => {
    if (!field.startsWith(settings)) return general.get(field) ?? field;
    const toTitle = (part: JsonObject, key: string): string => say(titleOf(part, key));
    return fieldTrail(field.slice(settings.length), { schema: schema ?? {}, value: entry?.applicationProperties, toTitle });
  };
}
