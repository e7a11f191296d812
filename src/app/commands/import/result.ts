import { tryDecode } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { type Environment, type ExpectedTypeAt, isReference, substitute } from '#configuration/substitute.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { explain } from '#contract/configuration/explain.ts';
import { formatPath, type Issue, type Path } from '#contract/configuration/issue.ts';
import { ruleFaults } from '#contract/configuration/rules.ts';
import { complete, schemaAt } from '#contract/configuration/schema-node.ts';

const writtenReference = /\$\{[A-Za-z_]\w*\}/;
const pythonReference = /^os\.environ\/([A-Za-z_]\w*)$/;
const secretName = /key|token|secret|passw|credential|authorization|cookie|signature|^sig$|^code$/i;
/** Fields whose names sound like secrets and are none. */
const plainName = /tokeni[sz]er|keyword|tokens$|(url|endpoint|header|name|type)$|public/i;
/** The object in a tool of a web API that says where a parameter goes. Its `key` is the name of the parameter. */
const parameterInfo = 'parameter_info';
const scheme = /^(bearer|basic|token|key|apikey|api-key) +\S/i;

type Container = JsonObject | unknown[];

const expectedTypeAt: ExpectedTypeAt = (path) => schemaAt(Configuration, path).type;

/** The configuration that an import makes, with where each of its objects comes from. */
export class Result {
  readonly configuration: JsonObject = {};
  readonly #origins = new WeakMap<object, Path>();

  /** Remembers where an object of the configuration comes from. */
  withOrigin<Value extends Container>(origin: Path, value: Value): Value {
    this.#origins.set(value, origin);
    return value;
  }

  put(section: string, name: string, entry: JsonObject): void {
    const entries = this.configuration[section];
    if (isJsonObject(entries)) entries[name] = entry;
    else this.configuration[section] = Object.assign(Object.create(null), Object.fromEntries([[name, entry]]));
  }

  /** Takes out what the check of configurations refuses, and tells each. What is left passes the check. */
  settle(getNotes: (section: string) => Notes): void {
    for (;;) {
      const [error] = this.#faults();
      if (error === undefined) return;
      const { holder, key, path } = this.#findRemovable(error.path);
      const what = path.length < error.path.length ? `${formatPath(error.path.slice(path.length))} ` : 'it ';
      getNotes(String(path[0])).addLoss(this.#findOrigin(path), `is not carried: ${what}${error.message}`, error.hint);
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
    }
  }

  #faults(): readonly Issue[] {
    const { value } = substitute(this.configuration, placeholders(this.configuration), { expectedTypeAt });
    const completed = complete(Configuration, value);
    return [...explain(Configuration, completed), ...ruleFaults(completed)];
  }

  /** The value at a path, or, if there is none, what is around it. */
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

/** Something of the right form for every variable that a configuration names. */
function placeholders(configuration: JsonObject): Environment {
  const text = JSON.stringify(configuration);
  const collect = (pattern: RegExp, toValue: (name: string) => string) =>
    [...text.matchAll(pattern)].map(([, name = '']): [string, string] => [name, toValue(name)]);
  return Object.fromEntries([
    ...collect(/\$\{(\w+)\}/g, (name) => `placeholder-${name.toLowerCase().replaceAll('_', '-')}`),
    ...collect(/"(?:endpoint|url|issuer|jwksUrl)":"\$\{(\w+)\}/g, () => 'https://placeholder.example'),
    ...collect(/"apiVersion":"\$\{(\w+)\}"/g, () => '2024-10-21'),
  ]);
}

/** One thing that is told of an import. */
export interface Note {
  /** Where it stands in the files that are imported. */
  readonly path: Path;
  /** Goes on where the path ends; never repeats a value, which may be secret. */
  readonly message: string;
  /** Whether something is lost by it, or means something else now. */
  readonly isLoss: boolean;
}

/** What is told of an import, in the order of its findings; once for each place and message. */
export class Notes {
  readonly #notes = new Map<string, Note>();

  /** Something that could not be carried, or means something else now; `advice` is what to do. */
  addLoss(path: Path, message: string, suggestion?: string): void {
    this.#add({ path, message: suggestion === undefined ? message : `${message}; ${suggestion}`, isLoss: true });
  }

  /** Something that is carried, and needs a hand. */
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

/** What every part of an import works with. */
export interface ImportTools {
  readonly result: Result;
  readonly notes: Notes;
  readonly variables: Variables;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Puts references to the environment in the place of secrets: one variable for each secret, named after where it stands first. */
export class Variables {
  readonly #notes: Notes;
  readonly #names = new Map<string, string>();
  readonly #usedNames = new Set<string>();

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** Keeps the variables that a text names already, and those that are named, from being given to other secrets. */
  reserve(text: string, names: Iterable<string> = []): void {
    for (const name of [...text.matchAll(/(?:os\.environ\/|\$\{)([A-Za-z_]\w*)/g)].map(([, variable = '']) => variable))
      this.#usedNames.add(name);
    for (const name of names) this.#usedNames.add(name);
  }

  /** A reference in the place of a secret; one that is a reference already stays. */
  reference(secret: string, path: Path, wish: string): string {
    const resolved = this.environment(secret);
    if (isReference(resolved)) return resolved;
    const name = this.#names.get(secret) ?? this.#free(wish);
    this.#names.set(secret, name);
    const reference = `\${${name}}`;
    this.#notes.addNotice(path, `is a secret and stands as ${reference} in the result: set it in the environment`);
    return reference;
  }

  /** A text that may name variables, such as an address: `os.environ/NAME` as `${NAME}`, other text as it was, with a plain `${` escaped. */
  environment(text: string): string {
    const [, name] = pythonReference.exec(text) ?? [];
    if (name !== undefined) return `\${${name}}`;
    return writtenReference.test(text) ? text : escapeReferences(text);
  }

  /** A text that people read: it comes from the environment only as a whole. */
  text(text: string): string {
    return isReference(text) || pythonReference.test(text) ? this.environment(text) : escapeReferences(text);
  }

  /** A value as it can be written: texts escaped, and those that sound like secrets by reference. */
  value(value: unknown, path: Path, wish: string): unknown {
    const [parent, name = ''] = ['', ...path].slice(-2);
    if (typeof value === 'string') {
      const isSecret = value !== '' && parent !== parameterInfo && isSecretName(String(name));
      return isSecret ? this.reference(value, path, `${wish}_${name}`) : this.text(value);
    }
    if (Array.isArray(value)) return value.map((item, index) => this.value(item, [...path, index], wish));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.value(member, [...path, key], wish)]));
  }

  /** The value of a header field. */
  header(value: string, path: Path, wish: string): string {
    const [name = ''] = path.slice(-1);
    const isSecret = isSecretName(String(name)) || scheme.test(value) || value.startsWith('sk-');
    return isSecret ? this.reference(value, path, `${wish}_${name}`) : this.environment(value);
  }

  /** An address with references in the place of the secrets in its query. */
  address(url: string, path: Path, wish: string): string {
    const [base = '', ...queries] = this.environment(url).split('?');
    if (queries.length === 0) return base;
    const parts = queries
      .join('?')
      .split('&')
      .map((part) => {
        const [name = '', ...values] = part.split('=');
        const value = values.join('=');
        return value !== '' && isSecretName(name)
          ? `${name}=${this.reference(tryDecode(value) ?? value, path, `${wish}_${name}`)}`
          : part;
      });
    return `${base}?${parts.join('&')}`;
  }

  #free(wish: string): string {
    const plain = wish
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_')
      // Pattern bound: a name in the operator's file.
      .replaceAll(/^_+(?=\D)|_+$/g, '');
    let name = plain === '' ? 'SECRET' : plain;
    for (let suffix = 2; this.#usedNames.has(name); suffix += 1) name = `${plain}_${suffix}`;
    this.#usedNames.add(name);
    return name;
  }
}

/** A text in which a plain `${` stands for itself. */
function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

function isSecretName(name: string): boolean {
  return secretName.test(name) && !plainName.test(name);
}
