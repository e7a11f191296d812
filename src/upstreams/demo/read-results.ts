import { isJsonObject, tryParseJson } from '#base/json.ts';
import type { Passage } from './read-conversation.ts';

const mark = /^(\[\d{1,4}\]) /m;
/** What stands above the passages of one section: the file, its page, the headings. */
const head = /^[^\n]{1,255}\.[a-z]{2,5}(?:, (?:page|slide|sheet) \d+)?(?: — [^\n]*)?(?:\n|$)/;

/** The passages of a result that begin with a number such as [1], each with it as source; else the result as one, without. */
export function numberedPassages(result: string): Passage[] {
  const [, ...parts] = result.split(mark);
  if (parts.length === 0) return [{ source: '', text: result }];
  const passages: Passage[] = [];
  for (let at = 0; at < parts.length; at += 2)
    passages.push({ source: parts[at] ?? '', text: (parts[at + 1] ?? '').replace(head, '') });
  return passages;
}

/** An object of plain values as words; any other text as it is. */
export function inWords(result: string): string {
  const value = result.startsWith('{') ? tryParseJson(result) : undefined;
  if (!isJsonObject(value) || Object.keys(value).length === 0) return result;
  const entries = Object.entries(value);
  if (entries.some(([, each]) => typeof each === 'object')) return result;
  return `${entries.map(([name, each]) => `${name.replaceAll('_', ' ')} ${each}`).join(', ')}.`;
}
