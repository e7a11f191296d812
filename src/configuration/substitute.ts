import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Fault, Path } from '#contract/configuration/fault.ts';

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Substituted {
  readonly value: unknown;
  /** Their paths are as the files have them. */
  readonly faults: readonly Fault[];
  /** What the entries of `keys` are called in the files, by what they are called now. */
  readonly writtenKeys: ReadonlyMap<string, string>;
}

/** The type that is wanted at a path, in the words of JSON Schema. */
export type WantedAt = (path: Path) => string | undefined;

const references = /\$\$\{|\$\{([^}]*)(\}?)/g;
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether a text is one reference to a variable and nothing else. */
export function isReference(text: string): boolean {
  return text.startsWith('${') && text.endsWith('}') && variableName.test(text.slice(2, -1));
}

/**
 * Replaces `${NAME}` in strings, and in the names of the entries of `keys`, by the environment; `$${` stands for a plain `${`. A string that is one
 * reference and nothing else becomes a number, true or false if that is wanted.
 */
export function substitute(value: unknown, environment: Environment, wantedAt: WantedAt = () => undefined): Substituted {
  const substitution = new Substitution(environment, wantedAt);
  return { value: substitution.inValue(value, []), faults: substitution.faults, writtenKeys: substitution.writtenKeys };
}

class Substitution implements Omit<Substituted, 'value'> {
  readonly faults: Fault[] = [];
  readonly writtenKeys = new Map<string, string>();
  readonly #environment: Environment;
  readonly #wantedAt: WantedAt;

  constructor(environment: Environment, wantedAt: WantedAt) {
    this.#environment = environment;
    this.#wantedAt = wantedAt;
  }

  inValue(value: unknown, path: Path): unknown {
    if (typeof value === 'string') {
      const text = this.#inText(value, path);
      return isReference(value) ? readAs(this.#wantedAt(path), text) : text;
    }
    if (Array.isArray(value)) return value.map((item, index) => this.inValue(item, [...path, index]));
    return isJsonObject(value) ? this.#inObject(value, path) : value;
  }

  #inObject(value: JsonObject, path: Path): JsonObject {
    const copy: JsonObject = Object.create(null);
    const isKeys = path.length === 1 && path[0] === 'keys';
    for (const [written, member] of Object.entries(value)) {
      const memberPath = [...path, written];
      const key = isKeys ? this.#inText(written, memberPath) : written;
      if (isKeys) {
        if (key in copy) this.faults.push({ path: memberPath, message: 'is the key of another entry as well' });
        this.writtenKeys.set(key, written);
      }
      copy[key] = this.inValue(member, memberPath);
    }
    return copy;
  }

  #inText(text: string, path: Path): string {
    return text.replaceAll(references, (_, name: string | undefined, end: string) => {
      if (name === undefined) return '${';
      if (end === '' || !variableName.test(name)) {
        this.faults.push({
          path,
          message: 'has ${ without the name of a variable and a closing brace after it',
          hint: 'write $${ for a plain ${',
        });
        return '';
      }
      const value = Object.hasOwn(this.#environment, name) ? this.#environment[name] : undefined;
      if (value === undefined) this.faults.push({ path, message: `needs the environment variable ${name}, which is not set` });
      return value ?? '';
    });
  }
}

function readAs(wanted: string | undefined, text: string): unknown {
  if (wanted === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  const isNumber = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);
  return isNumber && (wanted === 'number' || wanted === 'integer') ? Number(text) : text;
}
