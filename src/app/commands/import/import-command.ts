import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/issue.ts';
import { importDial } from './dial/import-dial.ts';
import { getValueAt } from './foreign-object.ts';
import type { ImportFlags } from './import-flags.ts';
import { importLitellm } from './litellm/import-litellm.ts';
import { providerVariables } from './litellm/upstream.ts';
import { readSource, type Source, SourceError } from './read-source.ts';
import { ImportResult, type Note, Notes, SecretVariables } from './result.ts';

interface ImportOutcome {
  readonly exitCode: 0 | 1;
  /** Configuration of Parley for stdout. Empty if a file cannot be read. */
  readonly text: string;
  /** Lines for stderr. */
  readonly lines: readonly string[];
}

/** Returns the output and the exit code of `parley import`. */
export async function importCommand({ from, files, database, settings, isStrict }: ImportFlags): Promise<ImportOutcome> {
  try {
    if (database !== undefined) return await importDatabase(database, isStrict);
    const sources = await Promise.all(files.map((file) => readSource(file, from === 'dial' ? 'json' : 'yaml')));
    const settingsSource = settings === undefined ? undefined : await readSource(settings, 'json');
    const notes = new Notes();
    const settingsNotes = new Notes();
    const result = new ImportResult();
    const context = { result, notes, variables: new SecretVariables(notes), nowMs: Date.now() };
    context.variables.reserve(JSON.stringify(sources.map(({ value }) => value)), providerVariables);
    if (from === 'dial') importDial({ sources, settings: settingsSource, settingsNotes }, context);
    else importLitellm(sources, context);
    result.removeInvalid((section) => (from === 'dial' && section === 'identityProviders' ? settingsNotes : notes));
    const lines = [
      ...toLines(notes.all, sources),
      ...toLines(settingsNotes.all, settingsSource === undefined ? [] : [settingsSource]),
    ];
    return toOutcome(result, isStrict && [...notes.all, ...settingsNotes.all].some(({ isLoss }) => isLoss), lines);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { exitCode: 1, text: '', lines: [error.message] };
  }
}

async function importDatabase(url: string, isStrict: boolean): Promise<ImportOutcome> {
  const { importLitellmDatabase, readLitellmTables } = await import('./litellm/import-database.ts');
  const tables = await readLitellmTables(url);
  const notes = new Notes();
  const result = new ImportResult();
  importLitellmDatabase(tables, { result, notes, variables: new SecretVariables(notes), nowMs: Date.now() });
  result.removeInvalid(() => notes);
  const lines = notes.all.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  return toOutcome(result, isStrict && notes.all.some(({ isLoss }) => isLoss), lines);
}

function toOutcome({ configuration }: ImportResult, hasFailed: boolean, lines: readonly string[]): ImportOutcome {
  return { exitCode: hasFailed ? 1 : 0, text: JSON.stringify(configuration, null, 2), lines };
}

/** Returns `FILE:LINE: path: message` for each note, ordered by file and line. */
function toLines(notes: readonly Note[], sources: readonly Source[]): readonly string[] {
  const locatedNotes = notes.map(({ path, message }) => ({ path, message, ...findLocation(path, sources) }));
  locatedNotes.sort((left, right) => left.fileIndex - right.fileIndex || left.line - right.line);
  return locatedNotes.map(({ path, message, fileIndex, line }) => {
    const { file, value } = sources[fileIndex] ?? { file: '', value: {} };
    return `${file}:${line}: ${formatPath(withoutKey(path, value))}: ${message}`;
  });
}

interface SourceLocation {
  readonly fileIndex: number;
  readonly line: number;
}

/** Returns the location of a path in the last file that contains the longest part of the path. */
function findLocation(path: Path, sources: readonly Source[]): SourceLocation {
  const joined = findInJoinedList(path, sources);
  if (joined !== undefined) return joined;
  const locations = sources.map((source, fileIndex) => ({ fileIndex, ...source.findLine(path) }));
  const deepest = Math.max(...locations.map(({ depth }) => depth));
  return locations.findLast(({ depth }) => depth === deepest) ?? { fileIndex: 0, line: 1 };
}

/** Returns the location in a list that several files have. The import concatenates such lists in the order of the files. */
function findInJoinedList(path: Path, sources: readonly Source[]): SourceLocation | undefined {
  const depth = path.findIndex((key) => typeof key === 'number');
  if (depth < 0) return undefined;
  const list = path.slice(0, depth);
  let index = Number(path[depth]);
  const lengths = sources.map(({ value }) => getListLength(value, list));
  if (lengths.filter((length) => length > 0).length < 2) return undefined;
  for (const [fileIndex, length] of lengths.entries()) {
    if (index < length)
      return { fileIndex, line: sources[fileIndex]?.findLine([...list, index, ...path.slice(depth + 1)]).line ?? 1 };
    index -= length;
  }
  return undefined;
}

function getListLength(value: unknown, path: Path): number {
  const target = getValueAt(value, path);
  return Array.isArray(target) ? target.length : 0;
}

/** Returns the path with the position of a key instead of its name, because the names in `keys` are secrets. */
function withoutKey(path: Path, { keys }: JsonObject): Path {
  const [section, name, ...innerPath] = path;
  if (section !== 'keys' || name === undefined) return path;
  const position = isJsonObject(keys) ? Object.keys(keys).indexOf(String(name)) + 1 : 0;
  return [section, `***#${position}`, ...innerPath];
}
