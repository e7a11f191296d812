import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import type { JsonObject } from '#base/json/json.ts';
import { type ConfigurationFault, formatFault } from '#configuration/configuration-fault.ts';
import { jsonLines, type LineOf, yamlLines } from '#configuration/line-of.ts';
import { parseTextAs } from '#configuration/parse-text.ts';

/** Many times as much as people write by hand; what is larger is another file. */
const maxBytes = 16 * 1024 * 1024;

/** A file of another gateway. */
export interface Source {
  /** As it was named. */
  readonly file: string;
  readonly value: JsonObject;
  readonly lineOf: LineOf;
}

/** A file that cannot be imported. The message says which, where and why. */
export class SourceFault extends Error {
  constructor(fault: ConfigurationFault) {
    super(formatFault(fault));
    this.name = 'SourceFault';
  }
}

/** Reads a file as its gateway does: YAML if the name says so, or if it says nothing and YAML is what that gateway reads. Throws SourceFault. */
export async function readSource(file: string, byDefault: 'json' | 'yaml'): Promise<Source> {
  const extension = extname(file).toLowerCase();
  const isJson = extension === '.json' || extension === '.jsonc';
  const isYaml = extension === '.yaml' || extension === '.yml' || (!isJson && byDefault === 'yaml');
  const text = await readText(file);
  const parse = isYaml
    ? (await import('#configuration/parse-yaml.ts')).parseOldYaml
    : (await import('#configuration/parse-jsonc.ts')).parseJsonc;
  const parsed = parseTextAs(file, text, parse);
  if ('value' in parsed) return { file, value: parsed.value, lineOf: isYaml ? yamlLines(text) : jsonLines(text) };
  const [fault] = parsed.faults;
  throw new SourceFault({ file, path: '', message: 'cannot be read', ...withoutHint(fault) });
}

/** What is said of an empty configuration of Parley helps nobody here. */
function withoutHint(fault: ConfigurationFault | undefined): Partial<ConfigurationFault> {
  return fault === undefined ? {} : { path: fault.path, message: fault.message };
}

async function readText(file: string): Promise<string> {
  const refused = (message: string) => new SourceFault({ file, path: '', message });
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(file)) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > maxBytes) break;
    }
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    throw refused(reasons[code] ?? `cannot be read (${code})`);
  }
  if (bytes > maxBytes) throw refused(`is larger than ${maxBytes / 1024 / 1024} MiB, which no configuration is`);
  const content = Buffer.concat(chunks);
  if (!isUtf8(content)) throw refused('is not UTF-8 text');
  return content.toString('utf8');
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this process',
};
