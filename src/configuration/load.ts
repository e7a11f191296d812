import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { Configuration } from '#contract/configuration/configuration.ts';
import { schemaAt } from '#contract/configuration/schema-node.ts';
import { type Accepted, checkConfiguration, type Refused, toConfigurationFault } from './check.ts';
import { type ConfigurationFile, type Merged, merge } from './merge.ts';
import { type ParsedFile, parseText } from './parse-text.ts';
import { readLogo } from './read-logo.ts';
import { readSecretFile } from './read-secret-file.ts';
import { type Environment, substitute } from './substitute.ts';

/** Reads files, joins them in order, puts in the environment, and checks the whole. Tells every fault with its file; rejects for none. */
export async function loadConfiguration(
  files: readonly string[],
  environment: Environment,
  options: LoadOptions = {},
): Promise<Accepted | Refused> {
  const parsed = await Promise.all(files.map(readConfiguration));
  const faults = parsed.flatMap((each) => ('faults' in each ? each.faults : []));
  return faults.length > 0 ? { faults, warnings: [] } : checkMerged(merge(parsed.filter(isRead)), environment, options);
}

/** Circumstances of a load. */
export interface LoadOptions {
  /** Whether the process already serves. */
  readonly isRunning?: boolean;
}

type Read = ConfigurationFile | Pick<Refused, 'faults'>;

function isRead(read: Read): read is ConfigurationFile {
  return 'value' in read;
}

async function readConfiguration(file: string): Promise<Read> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (thrown) {
    return { faults: [{ file, path: '', message: sayWhy(thrown) }] };
  }
  if (!isUtf8(bytes)) return { faults: [{ file, path: '', message: 'is not UTF-8 text' }] };
  const parsed: ParsedFile = await parseText(file, bytes.toString('utf8'));
  return 'value' in parsed ? { file, value: parsed.value } : parsed;
}

const reasons: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['EISDIR', 'is a folder'],
  ['EACCES', 'may not be read by this process'],
]);

function sayWhy(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return reasons.get(code) ?? `cannot be read${code === undefined ? '' : ` (${code})`}`;
}

async function checkMerged(
  { value, fileOf }: Merged,
  environment: Environment,
  { isRunning = false }: LoadOptions,
): Promise<Accepted | Refused> {
  const {
    value: substituted,
    faults,
    writtenKeys,
  } = substitute(value, environment, {
    wantedAt: (path) => schemaAt(Configuration, path).type,
    readFile: readSecretFile,
    isRunning,
  });
  const logo = await readLogo(substituted, fileOf(['page', 'logo']));
  const checked = checkConfiguration(logo.value, { fileOf, writtenKeys });
  const missed = logo.fault === undefined ? faults : [...faults, logo.fault];
  if (missed.length === 0) return checked;
  const missing = missed.map((fault) => toConfigurationFault(fault, value, { fileOf, writtenKeys: new Map() }));
  // What the check finds if a variable is missing only follows from that.
  const told = new Set(missing.map(({ path }) => path));
  const others = 'faults' in checked ? checked.faults.filter(({ path }) => !told.has(path)) : [];
  // An empty section is doubted only if the rest can be used.
  const warnings = checked.warnings.filter(({ path }) => path !== 'keys' && path !== 'models');
  return { faults: [...missing, ...others], warnings };
}
