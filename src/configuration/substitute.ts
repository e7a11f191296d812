import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import type { Issue, Path } from '#contract/configuration/issue.ts';
import { getSchemaAt } from '#contract/configuration/schema-node.ts';

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface SubstitutionResult {
  readonly value: unknown;
  /** Errors with paths as in the files. */
  readonly errors: readonly Issue[];
  /** Variables that are not set and files that cannot be read, if `allowsMissing` is set. Their values are placeholders. */
  readonly unset: readonly Issue[];
  /** Names of the `keys` entries in the files, by their names after substitution. */
  readonly writtenKeys: ReadonlyMap<string, string>;
}

/** Reads the file of a reference. Returns its text or an error. */
export type ReadSecretFile = (path: string) => { readonly text: string } | { readonly error: string };

export interface SubstituteOptions {
  /** If undefined, references to files are errors. */
  readonly readFile?: ReadSecretFile;
  /** Whether the process already serves requests. Its environment no longer changes then. */
  readonly isRunning?: boolean;
  /** Whether variables and files may be missing. */
  readonly allowsMissing?: boolean;
}

const referencePattern = /\$\$\{|\$\{([^}]*)(\}?)/g;
const filePrefix = 'file:';
const variableNamePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns whether a text consists of exactly one reference to a variable. */
export function isReference(text: string): boolean {
  return text.startsWith('${') && text.endsWith('}') && variableNamePattern.test(text.slice(2, -1));
}

/** Returns whether a text contains a reference. */
export function hasReference(text: string): boolean {
  return text.replaceAll('$${', '').includes('${');
}

/** Escapes each `${` of a text, so that substitution restores it. */
export function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/**
 * Replaces `${NAME}` in strings, and in the entry names of `keys`, with the environment variable. Replaces `${file:/path}` with
 * the text of a file without its trailing line break. `$${` becomes a literal `${`. A string that consists of one `${NAME}`
 * becomes a number, true, or false if the configuration requires that type at its path.
 */
export function substitute(value: unknown, environment: Environment, options: SubstituteOptions = {}): SubstitutionResult {
  const substitution = new Substitution(environment, options);
  const substituted = substitution.substituteValue(value, []);
  return { value: substituted, errors: substitution.errors, unset: substitution.unset, writtenKeys: substitution.writtenKeys };
}

class Substitution implements Omit<SubstitutionResult, 'value'> {
  readonly errors: Issue[] = [];
  readonly unset: Issue[] = [];
  readonly writtenKeys = new Map<string, string>();
  readonly #environment: Environment;
  readonly #options: SubstituteOptions;

  constructor(environment: Environment, options: SubstituteOptions) {
    this.#environment = environment;
    this.#options = options;
  }

  substituteValue(value: unknown, path: Path): unknown {
    if (typeof value === 'string') {
      const text = this.#substituteText(value, path);
      return isReference(value) ? convertTo(getExpectedType(path), text) : text;
    }
    if (Array.isArray(value)) return value.map((item, index) => this.substituteValue(item, [...path, index]));
    return isJsonObject(value) ? this.#substituteObject(value, path) : value;
  }

  #substituteObject(value: JsonObject, path: Path): JsonObject {
    const copy: JsonObject = Object.create(null);
    const isKeys = path.length === 1 && path[0] === 'keys';
    for (const [writtenKey, member] of Object.entries(value)) {
      const memberPath = [...path, writtenKey];
      const key = isKeys ? this.#substituteText(writtenKey, memberPath) : writtenKey;
      if (isKeys) {
        if (key in copy) this.errors.push({ path: memberPath, message: 'is also the key of another entry' });
        this.writtenKeys.set(key, writtenKey);
      }
      copy[key] = this.substituteValue(member, memberPath);
    }
    return copy;
  }

  #substituteText(text: string, path: Path): string {
    return text.replaceAll(referencePattern, (_, name: string | undefined, end: string) => {
      if (name === undefined) return '${';
      if (end !== '' && name.startsWith(filePrefix)) return this.#readFile(name.slice(filePrefix.length), path);
      if (end === '' || !variableNamePattern.test(name)) {
        this.errors.push({
          path,
          message: 'has a malformed reference to a variable',
          hint: 'write $${ for a literal ${',
        });
        return '';
      }
      const value = Object.hasOwn(this.#environment, name) ? this.#environment[name] : undefined;
      if (value !== undefined) return value;
      const message = `needs the environment variable ${name}, which is not set`;
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the hint shows a reference
      const hint = 'the environment of a running process is fixed at its start: restart Parley, or use ${file:/path}';
      this.#onMissing({ path, message, ...(this.#options.isRunning && { hint }) });
      if (!this.#options.allowsMissing) return '';
      return isReference(text) ? toPlaceholder(getExpectedType(path), name) : 'unset';
    });
  }

  #onMissing(issue: Issue): void {
    if (this.#options.allowsMissing) this.unset.push(issue);
    else this.errors.push(issue);
  }

  #readFile(file: string, path: Path): string {
    const result = this.#options.readFile?.(file) ?? { error: 'cannot be read here' };
    if ('text' in result) return result.text;
    this.#onMissing({ path, message: `needs the file ${file}, which ${result.error}` });
    return this.#options.allowsMissing ? toPlaceholder(undefined, file) : '';
  }
}

function getExpectedType(path: Path): string | undefined {
  return getSchemaAt(Configuration, path).type;
}

/** Returns a placeholder that most fields accept. A placeholder for text contains the variable name, so that it is unique. */
function toPlaceholder(expectedType: string | undefined, name: string): string {
  if (expectedType === 'boolean') return 'false';
  if (expectedType === 'number' || expectedType === 'integer') return '1';
  return `https://unset.invalid/${name}`;
}

function convertTo(expectedType: string | undefined, text: string): unknown {
  if (expectedType === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  const isNumber = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);
  return isNumber && (expectedType === 'number' || expectedType === 'integer') ? Number(text) : text;
}
