import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { maxNameLength } from './prompts.ts';

/** A prompt in a file. */
export interface PromptFileEntry {
  readonly name: string;
  readonly content: string;
}

const format = 'parley-prompts';
const maxPrompts = 500;
export const maxPromptFileBytes = 16 * 1024 ** 2;

/** Builds a file that another user can import. */
export function toPromptFile(prompts: readonly PromptFileEntry[]): Blob {
  const text = JSON.stringify({ format, version: 1, prompts: prompts.map(({ name, content }) => ({ name, content })) }, null, 2);
  return new Blob([text, '\n'], { type: 'application/json' });
}

/**
 * Reads the prompts of a file: from this page, from DIAL's chat (`prompts` with `name` and `content`), from Open WebUI (a list
 * with `command`, `title` or `name`, and `content`), or from LibreChat's API (groups with a `productionPrompt`). Returns
 * undefined if it contains none.
 */
export function readPromptFile(text: string): readonly PromptFileEntry[] | undefined {
  const value = tryParseJson(text);
  const entries = isJsonObject(value) ? (value.prompts ?? value.promptGroups) : value;
  const prompts = Array.isArray(entries) ? entries.filter(isJsonObject).flatMap(readPrompt).slice(0, maxPrompts) : [];
  return prompts.length === 0 ? undefined : prompts;
}

function readPrompt(item: JsonObject): readonly PromptFileEntry[] {
  const { productionPrompt: production } = item;
  const content = [item.content, isJsonObject(production) ? production.prompt : undefined].find(isText);
  const name = [item.name, item.title, item.command].find(isText)?.replace(/^\//, '').trim().slice(0, maxNameLength);
  return content === undefined || name === undefined || name === '' ? [] : [{ name, content }];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Returns `name` if it is not in use, otherwise `name` with a number. */
export function findUnusedName(name: string, usedNames: ReadonlySet<string>): string {
  for (let number = 2, next = name; ; number += 1) {
    if (!usedNames.has(next)) return next;
    const suffix = ` (${number})`;
    next = name.slice(0, maxNameLength - suffix.length) + suffix;
  }
}
