import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/fault.ts';
import { importDial } from './dial/import-dial.ts';
import type { ImportFlags } from './import-flags.ts';
import { importLitellm } from './litellm/import-litellm.ts';
import { providerVariables } from './litellm/providers.ts';
import { readSource, type Source, SourceFault } from './read-source.ts';
import { type Note, Notes, Result, Variables } from './result.ts';

interface ImportOutcome {
  readonly exitCode: 0 | 1;
  /** For stdout: a configuration of Parley; empty if a file cannot be read. */
  readonly text: string;
  /** For stderr. */
  readonly lines: readonly string[];
}

/** What `parley import` prints and how it exits. */
export async function importCommand({ from, files, settings, isStrict }: ImportFlags): Promise<ImportOutcome> {
  try {
    const sources = await Promise.all(files.map((file) => readSource(file, from === 'dial' ? 'json' : 'yaml')));
    const settingsSource = settings === undefined ? undefined : await readSource(settings, 'json');
    const notes = new Notes();
    const settingsNotes = new Notes();
    const result = new Result();
    const tools = { result, notes, variables: new Variables(notes), nowMs: Date.now() };
    tools.variables.reserve(JSON.stringify(sources.map(({ value }) => value)), providerVariables);
    if (from === 'dial') importDial({ sources, settings: settingsSource, settingsNotes }, tools);
    else importLitellm(sources, tools);
    result.settle((section) => (from === 'dial' && section === 'identityProviders' ? settingsNotes : notes));
    const told = [
      ...toLines(notes.all, sources),
      ...toLines(settingsNotes.all, settingsSource === undefined ? [] : [settingsSource]),
    ];
    const isFailure = isStrict && [...notes.all, ...settingsNotes.all].some(({ isLoss }) => isLoss);
    return { exitCode: isFailure ? 1 : 0, text: JSON.stringify(result.configuration, null, 2), lines: told };
  } catch (thrown) {
    if (!(thrown instanceof SourceFault)) throw thrown;
    return { exitCode: 1, text: '', lines: [thrown.message] };
  }
}

/** `FILE:LINE: path: what is told` for each note, in the order of the files and their lines. */
function toLines(notes: readonly Note[], sources: readonly Source[]): readonly string[] {
  const placed = notes.map(({ path, message }) => ({ path, message, ...placeOf(path, sources) }));
  placed.sort((one, other) => one.nth - other.nth || one.line - other.line);
  return placed.map(({ path, message, nth, line }) => {
    const { file, value } = sources[nth] ?? { file: '', value: {} };
    return `${file}:${line}: ${formatPath(withoutKey(path, value))}: ${message}`;
  });
}

interface Place {
  readonly nth: number;
  readonly line: number;
}

/** The last of the files that has most of a path, and the line there. */
function placeOf(path: Path, sources: readonly Source[]): Place {
  const joined = placeInJoinedList(path, sources);
  if (joined !== undefined) return joined;
  const places = sources.map((source, nth) => ({ nth, ...source.lineOf(path) }));
  const deepest = Math.max(...places.map(({ depth }) => depth));
  return places.findLast(({ depth }) => depth === deepest) ?? { nth: 0, line: 1 };
}

/** Where several files have a list, their items stand behind one another. */
function placeInJoinedList(path: Path, sources: readonly Source[]): Place | undefined {
  const depth = path.findIndex((key) => typeof key === 'number');
  if (depth < 0) return undefined;
  const list = path.slice(0, depth);
  let index = Number(path[depth]);
  const lengths = sources.map(({ value }) => lengthAt(value, list));
  if (lengths.filter((length) => length > 0).length < 2) return undefined;
  for (const [nth, length] of lengths.entries()) {
    if (index < length) return { nth, line: sources[nth]?.lineOf([...list, index, ...path.slice(depth + 1)]).line ?? 1 };
    index -= length;
  }
  return undefined;
}

function lengthAt(value: unknown, path: Path): number {
  const found = path.reduce<unknown>((each, key) => (isJsonObject(each) ? each[key] : undefined), value);
  return Array.isArray(found) ? found.length : 0;
}

/** The names of the entries of `keys` are secrets: each is told by its place among them. */
function withoutKey(path: Path, { keys }: JsonObject): Path {
  const [section, name, ...rest] = path;
  if (section !== 'keys' || name === undefined) return path;
  const place = isJsonObject(keys) ? Object.keys(keys).indexOf(String(name)) + 1 : 0;
  return [section, `***#${place}`, ...rest];
}
