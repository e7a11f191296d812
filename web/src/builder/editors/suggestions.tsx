import type { JsonObject } from '#base/json/json.ts';

/** Keyword of a schema with values that a text field suggests. */
const keyword = 'x-suggestions';

export function hasSuggestions(schema: JsonObject): boolean {
  return Array.isArray(schema[keyword]);
}

/** Returns a schema whose text field suggests values. */
export function withSuggestions(schema: JsonObject, values: readonly string[]): JsonObject {
  return { ...schema, [keyword]: values };
}

/** The values that a text field suggests. */
export function Suggestions({ id, schema }: { readonly id: string; readonly schema: JsonObject }) {
  const values = schema[keyword];
  if (!Array.isArray(values)) return null;
  return (
    <datalist id={id}>
      {values.map((value: unknown) => (
        <option key={String(value)} value={String(value)} />
      ))}
    </datalist>
  );
}
