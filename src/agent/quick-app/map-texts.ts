/** The same value with other texts. */
export function mapTexts<Value>(value: Value, toText: (text: string) => string): Value {
  if (typeof value === 'string') return toText(value) as Value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, toText)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, toText)])) as Value;
}
