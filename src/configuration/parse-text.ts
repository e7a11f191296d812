import { extname } from 'node:path';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ConfigurationError } from '#contract/configuration/checked-configuration.ts';
import type { ParsedText } from './parsed-text.ts';

export type ParsedFile = { readonly value: JsonObject } | { readonly errors: readonly ConfigurationError[] };

export type Parse = (text: string) => ParsedText;

const loadYaml = async (): Promise<Parse> => (await import('./parse-yaml.ts')).parseYaml;
const loadJsonc = async (): Promise<Parse> => (await import('./parse-jsonc.ts')).parseJsonc;
/** Parsers by file name extension. They are loaded on demand. */
const parsers: ReadonlyMap<string, () => Promise<Parse>> = new Map([
  ['.json', loadJsonc],
  ['.jsonc', loadJsonc],
  ['.yaml', loadYaml],
  ['.yml', loadYaml],
]);

const maxDepth = 64;
const emptyHint = 'write {} for an empty configuration, or start without a file to run the demo';

/**
 * Parses a configuration file: JSON with comments and trailing commas, or YAML, depending on the file name extension. An empty
 * text is an error, because it can be a partial copy.
 */
export async function parseText(file: string, text: string): Promise<ParsedFile> {
  const loadParser = parsers.get(extname(file).toLowerCase());
  if (loadParser === undefined) return reject(file, `must have a name that ends in ${[...parsers.keys()].join(', ')}`);
  return parseTextAs(file, text, await loadParser());
}

/** Parses a text with a given parser. */
export function parseTextAs(file: string, text: string, parse: Parse): ParsedFile {
  const parsed = parseSafely(parse, text.replace(/^\uFEFF/, ''));
  if ('errors' in parsed) {
    return {
      errors: parsed.errors.map(({ line, column, message }) => ({ file, path: `line ${line}, column ${column}`, message })),
    };
  }
  const { value } = parsed;
  if (value === undefined) return { errors: [{ file, path: '', message: 'is empty', hint: emptyHint }] };
  if (isTooDeep(value, maxDepth)) return reject(file, `is nested more than ${maxDepth} levels deep`);
  return isJsonObject(value) ? { value } : reject(file, 'must contain an object');
}

/** The parsers are recursive, so a hostile text can exhaust the stack. */
function parseSafely(parse: Parse, text: string): ParsedText {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { errors: [{ line: 1, column: 1, message: 'the text is nested too deeply' }] };
  }
}

function reject(file: string, message: string): ParsedFile {
  return { errors: [{ file, path: '', message }] };
}

/** Returns whether a value is nested too deeply. YAML values can also contain themselves. */
function isTooDeep(value: unknown, levelsLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levelsLeft === 0 || Object.values(value).some((member) => isTooDeep(member, levelsLeft - 1));
}
