import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import type { JsonObject } from '#base/json/json.ts';
import { createJsonLineFinder, createYamlLineFinder, type FindLine } from '#configuration/find-line.ts';
import { parseTextAs } from '#configuration/parse-text.ts';
import { type ConfigurationError, formatConfigurationError } from '#contract/configuration/checked-configuration.ts';

/** Maximum size of a file. Larger files are not hand-written configurations. */
const maxBytes = 16 * 1024 * 1024;

/** Configuration file of another gateway. */
export interface Source {
  /** File path, as given. */
  readonly file: string;
  readonly value: JsonObject;
  readonly findLine: FindLine;
}

/** File that cannot be imported. The message names the file, the location, and the reason. */
export class SourceError extends Error {
  constructor(error: ConfigurationError) {
    super(formatConfigurationError(error));
    this.name = 'SourceError';
  }
}

/**
 * Reads a file in the format of its extension. If the extension is unknown, uses `defaultFormat`, the format that the gateway reads.
 * Throws SourceError.
 */
export async function readSource(file: string, defaultFormat: 'json' | 'yaml'): Promise<Source> {
  const extension = extname(file).toLowerCase();
  const isJson = extension === '.json' || extension === '.jsonc';
  const isYaml = extension === '.yaml' || extension === '.yml' || (!isJson && defaultFormat === 'yaml');
  const text = await readText(file);
  const parse = isYaml
    ? (await import('#configuration/parse-yaml.ts')).parseOldYaml
    : (await import('#configuration/parse-jsonc.ts')).parseJsonc;
  const parsed = parseTextAs(file, text, parse);
  if ('value' in parsed)
    return { file, value: parsed.value, findLine: isYaml ? createYamlLineFinder(text) : createJsonLineFinder(text) };
  const [error] = parsed.errors;
  throw new SourceError({ file, path: '', message: 'cannot be read', ...withoutHint(error) });
}

/** Returns the error without its hint, which applies only to configurations of Parley. */
function withoutHint(error: ConfigurationError | undefined): Partial<ConfigurationError> {
  return error === undefined ? {} : { path: error.path, message: error.message };
}

async function readText(file: string): Promise<string> {
  const createError = (message: string) => new SourceError({ file, path: '', message });
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(file)) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > maxBytes) break;
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw createError(reasons[code] ?? `cannot be read (${code})`);
  }
  if (bytes > maxBytes) throw createError(`is larger than ${maxBytes / 1024 / 1024} MiB`);
  const content = Buffer.concat(chunks);
  if (!isUtf8(content)) throw createError('is not UTF-8 text');
  return content.toString('utf8');
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'is not readable for this process',
};
