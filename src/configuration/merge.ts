import { isJsonObject, type JsonObject } from '#base/json.ts';
import { formatPath, type Path } from '#contract/configuration/fault.ts';

export interface ConfigurationFile {
  /** As it was named; told with the faults of its values. */
  readonly file: string;
  readonly value: JsonObject;
}

export interface Merged {
  readonly value: JsonObject;
  /** The file that holds the value at a path, else the one that holds what is around it; the last file for what none has. */
  fileOf(path: Path): string;
}

/** Several files as one, in order: objects are joined key by key, anything else takes the place of what an earlier file has. */
export function merge(files: readonly ConfigurationFile[]): Merged {
  const origins = new Map<string, string>();
  let value: JsonObject = Object.create(null);
  for (const each of files) {
    const note = (path: Path) => origins.set(formatPath(path), each.file);
    value = join(value, each.value, { path: [], note });
  }
  const fileOf = (path: Path): string => {
    const length = path.findLastIndex((_, index) => origins.has(formatPath(path.slice(0, index + 1)))) + 1;
    return origins.get(formatPath(path.slice(0, length))) ?? files.at(-1)?.file ?? '';
  };
  return { value, fileOf };
}

interface Place {
  readonly path: Path;
  readonly note: (path: Path) => void;
}

function join(under: JsonObject, over: JsonObject, { path, note }: Place): JsonObject {
  const joined: JsonObject = Object.assign(Object.create(null), under);
  for (const [key, value] of Object.entries(over)) {
    const place = { path: [...path, key], note };
    const before = joined[key];
    joined[key] = isJsonObject(value) ? join(isJsonObject(before) ? before : {}, value, place) : value;
    note(place.path);
  }
  return joined;
}
