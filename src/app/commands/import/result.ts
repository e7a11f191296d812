import { hash } from 'node:crypto';
import { tryDecode } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { capitalize } from '#base/text/sentence.ts';
import { type Environment, escapeReferences, isReference, substitute } from '#configuration/substitute.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { explain } from '#contract/configuration/explain.ts';
import { formatPath, type Issue, type Path } from '#contract/configuration/issue.ts';
import { findRuleIssues } from '#contract/configuration/rules.ts';
import { complete } from '#contract/configuration/schema-node.ts';

const embeddedReferencePattern = /\$\{[A-Za-z_]\w*\}/;
const liteLlmReferencePattern = /^os\.environ\/([A-Za-z_]\w*)$/;
const secretNamePattern = /key|token|secret|passw|credential|authorization|cookie|signature|^sig$|^code$/i;
/** Names of fields that look like secrets but are not. */
const nonSecretNamePattern = /tokeni[sz]er|keyword|tokens$|(url|endpoint|header|name|type)$|public/i;
/** Name of the object in a web API tool that describes a parameter. Its `key` is the parameter name. */
const parameterInfo = 'parameter_info';
const credentialSchemePattern = /^(bearer|basic|token|key|apikey|api-key) +\S/i;

type Container = JsonObject | unknown[];

/** Configuration that an import creates, with the origin of each of its objects. */
export class ImportResult {
  readonly configuration: JsonObject = {};
  readonly #origins = new WeakMap<object, Path>();

  /** Records the origin of an object and returns the object. */
  withOrigin<Value extends Container>(origin: Path, value: Value): Value {
    this.#origins.set(value, origin);
    return value;
  }

  /** Adds an entry, and records its origin. */
  put(section: string, name: string, origin: Path, entry: JsonObject): void {
    this.withOrigin(origin, entry);
    const entries = this.configuration[section];
    if (isJsonObject(entries)) entries[name] = entry;
    else this.configuration[section] = Object.assign(Object.create(null), Object.fromEntries([[name, entry]]));
  }

  /** Removes every part that the configuration check rejects, with a note for each. The rest passes the check. */
  removeInvalid(getNotes: (section: string) => Notes): void {
    for (;;) {
      const [error] = this.#errors();
      if (error === undefined) return;
      const { holder, key, path } = this.#findRemovable(error.path);
      const subject = path.length < error.path.length ? `${formatPath(error.path.slice(path.length))} ` : 'it ';
      getNotes(String(path[0])).addLoss(this.#findOrigin(path), `is not imported: ${subject}${error.message}`, error.hint);
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
    }
  }

  #errors(): readonly Issue[] {
    const { value } = substitute(this.configuration, createPlaceholders(this.configuration));
    const completed = complete(Configuration, value);
    return [...explain(Configuration, completed), ...findRuleIssues(completed)];
  }

  /** Returns the location of the value at a path, or of the nearest enclosing value if the path does not exist. */
  #findRemovable(path: Path): { readonly holder: Container; readonly key: string; readonly path: Path } {
    let holder: Container = this.configuration;
    for (const [depth, key] of path.entries()) {
      const next: unknown = (holder as JsonObject)[key];
      const isLast = depth === path.length - 1;
      if (isLast && next !== undefined) return { holder, key: String(key), path };
      if (next === undefined || typeof next !== 'object' || next === null) return this.#findRemovable(path.slice(0, depth));
      holder = next as Container;
    }
    return { holder: this.configuration, key: String(path[0]), path };
  }

  #findOrigin(path: Path): Path {
    let origin: Path = path;
    let current: unknown = this.configuration;
    for (const [depth, key] of path.entries()) {
      current = (current as JsonObject)[key];
      const knownOrigin = typeof current === 'object' && current !== null ? this.#origins.get(current) : undefined;
      if (knownOrigin !== undefined) origin = [...knownOrigin, ...path.slice(depth + 1)];
    }
    return origin;
  }
}

/** Returns a valid value for each variable that the configuration references. */
function createPlaceholders(configuration: JsonObject): Environment {
  const text = JSON.stringify(configuration);
  const collect = (pattern: RegExp, toValue: (name: string) => string) =>
    [...text.matchAll(pattern)].map(([, name = '']): [string, string] => [name, toValue(name)]);
  return Object.fromEntries([
    ...collect(/\$\{(\w+)\}/g, (name) => `placeholder-${name.toLowerCase().replaceAll('_', '-')}`),
    ...collect(/"(?:endpoint|url|issuer|jwksUrl)":"\$\{(\w+)\}/g, () => 'https://placeholder.example'),
    ...collect(/"apiVersion":"\$\{(\w+)\}"/g, () => '2024-10-21'),
  ]);
}

/** Message about one part of an import. */
export interface Note {
  /** Path in the imported files. */
  readonly path: Path;
  /** Continuation of a sentence that starts with the path. Must not contain a value that can be secret. */
  readonly message: string;
  /** Whether the import drops a setting or changes its meaning. */
  readonly isLoss: boolean;
}

/** Notes of an import in the order of detection, without duplicates of path and message. */
export class Notes {
  readonly #notes = new Map<string, Note>();

  /** Adds a note about a setting that the import drops or whose meaning changes. `suggestion` is the next step for the user. */
  addLoss(path: Path, message: string, suggestion?: string): void {
    this.#add({ path, message: suggestion === undefined ? message : `${message}. ${capitalize(suggestion)}`, isLoss: true });
  }

  /** Adds a note about an imported setting that needs a manual step. */
  addNotice(path: Path, message: string): void {
    this.#add({ path, message, isLoss: false });
  }

  get all(): readonly Note[] {
    return [...this.#notes.values()];
  }

  #add(note: Note): void {
    const key = `${formatPath(note.path)} ${note.message}`;
    if (!this.#notes.has(key)) this.#notes.set(key, note);
  }
}

/** Minimum length of a key that cannot be guessed from its digest. */
const minKeyLength = 16;

/** Returns the digest of a key. The result contains the digest instead of the key. */
export function toDigest(key: string, path: Path, notes: Notes): JsonObject {
  if (key.length < minKeyLength) notes.addNotice(path, 'is so short that it can be guessed from its digest. Use a longer key');
  return { sha256: hash('sha256', key, 'hex') };
}

/** Result and dependencies that all parts of an import share. */
export interface ImportContext {
  readonly result: ImportResult;
  readonly notes: Notes;
  readonly variables: SecretVariables;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Replaces secrets with references to the environment. Each secret gets one variable, named after its first location. */
export class SecretVariables {
  readonly #notes: Notes;
  readonly #names = new Map<string, string>();
  readonly #usedNames = new Set<string>();

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** Reserves the variables that a text references, and the given names, so that no other secret gets them. */
  reserve(text: string, names: Iterable<string> = []): void {
    for (const name of [...text.matchAll(/(?:os\.environ\/|\$\{)([A-Za-z_]\w*)/g)].map(([, variable = '']) => variable))
      this.#usedNames.add(name);
    for (const name of names) this.#usedNames.add(name);
  }

  /** Returns a reference for a secret. A secret that is already a reference gets no new variable. */
  toReference(secret: string, path: Path, preferredName: string): string {
    const resolved = this.convertReferences(secret);
    if (isReference(resolved)) return resolved;
    const name = this.#names.get(secret) ?? this.#createName(preferredName);
    this.#names.set(secret, name);
    const reference = `\${${name}}`;
    this.#notes.addNotice(path, `is a secret. The result references it as ${reference}, so set this environment variable`);
    return reference;
  }

  /**
   * Converts a text that may contain references, such as a URL. Replaces `os.environ/NAME` by `${NAME}`. Escapes `${` in a text
   * without references.
   */
  convertReferences(text: string): string {
    const [, name] = liteLlmReferencePattern.exec(text) ?? [];
    if (name !== undefined) return `\${${name}}`;
    return embeddedReferencePattern.test(text) ? text : escapeReferences(text);
  }

  /** Escapes `${` in a text, unless the complete text is a reference. */
  escapeText(text: string): string {
    return isReference(text) || liteLlmReferencePattern.test(text) ? this.convertReferences(text) : escapeReferences(text);
  }

  /** Returns a value with its texts escaped, and with references for texts whose field name looks like a secret. */
  convertValue(value: unknown, path: Path, preferredName: string): unknown {
    if (typeof value === 'string') {
      // An item of a list has the name of the list.
      const [parent, name = ''] = ['', ...path.filter((key) => typeof key === 'string')].slice(-2);
      const isSecret = value !== '' && parent !== parameterInfo && isSecretName(name);
      return isSecret ? this.toReference(value, path, `${preferredName}_${name}`) : this.escapeText(value);
    }
    if (Array.isArray(value)) return value.map((item, index) => this.convertValue(item, [...path, index], preferredName));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, this.convertValue(member, [...path, key], preferredName)]),
    );
  }

  /** Returns the value of a header field, or a reference if it looks like a secret. */
  convertHeader(value: string, path: Path, preferredName: string): string {
    const [name = ''] = path.slice(-1);
    const isSecret = isSecretName(String(name)) || credentialSchemePattern.test(value) || value.startsWith('sk-');
    return isSecret ? this.toReference(value, path, `${preferredName}_${name}`) : this.convertReferences(value);
  }

  /** Returns a URL with references for the secrets in its query. */
  convertUrl(url: string, path: Path, preferredName: string): string {
    const [base = '', ...queries] = this.convertReferences(url).split('?');
    if (queries.length === 0) return base;
    const parts = queries
      .join('?')
      .split('&')
      .map((part) => {
        const [name = '', ...values] = part.split('=');
        const value = values.join('=');
        return value !== '' && isSecretName(name)
          ? `${name}=${this.toReference(tryDecode(value) ?? value, path, `${preferredName}_${name}`)}`
          : part;
      });
    return `${base}?${parts.join('&')}`;
  }

  #createName(preferredName: string): string {
    const baseName =
      preferredName
        .toUpperCase()
        .replaceAll(/[^A-Z0-9]+/g, '_')
        .replace(/^(?=\d)/, '_')
        // Pattern bound: a name in the operator's file, which only slows down this command.
        .replaceAll(/^_+(?=\D)|_+$/g, '') || 'SECRET';
    let name = baseName;
    for (let suffix = 2; this.#usedNames.has(name); suffix += 1) name = `${baseName}_${suffix}`;
    this.#usedNames.add(name);
    return name;
  }
}

function isSecretName(name: string): boolean {
  return secretNamePattern.test(name) && !nonSecretNamePattern.test(name);
}
