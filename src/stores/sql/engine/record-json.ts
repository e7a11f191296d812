import { parseJson } from '#base/json/json.ts';

/** Keys are kept apart from the syntax, so that every text can be one, `__proto__` too. */
export function toRecordJson(record: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(record));
}

/** What `toRecordJson` was given. */
export function fromRecordJson<Value>(text: string): Record<string, Value> {
  return Object.fromEntries(parseJson(text) as [string, Value][]);
}

/** The texts of a JSON array. */
export function fromRecordList(text: string): readonly string[] {
  return parseJson(text) as readonly string[];
}
