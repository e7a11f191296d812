import { isJsonObject } from '#base/json.ts';
import type { Field } from './field.ts';
import type { FormsWords } from './forms-english.ts';

/** What was filled in as the form says it: each field by its title, each choice by its own. */
export function inWords(
  fields: readonly Field[],
  value: Readonly<Record<string, unknown>>,
  words: FormsWords,
): readonly string[] {
  return fields.flatMap((field) => {
    const filled = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
    if (filled === undefined) return [];
    if (field.kind === 'group') return isJsonObject(filled) ? inWords(field.fields, filled, words) : [];
    const items = field.kind === 'choices' && Array.isArray(filled) ? filled : [filled];
    return [`${field.label}: ${items.map((item) => toText(field, item, words)).join(', ')}`];
  });
}

function toText(field: Field, value: unknown, words: FormsWords): string {
  if (field.kind === 'choice' || field.kind === 'choices') {
    const told = JSON.stringify(value);
    const option = field.options.find((each) => JSON.stringify(each.value) === told);
    if (option !== undefined) return option.label;
  }
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
