import { isJsonObject } from '#base/json/json.ts';
import { isReference } from '#configuration/substitute.ts';
import type { Path } from '#contract/configuration/fault.ts';
import type { Notes } from './notes.ts';

const writtenReference = /\$\{[A-Za-z_]\w*\}/;
const ofPython = /^os\.environ\/([A-Za-z_]\w*)$/;
const secretName = /key|token|secret|passw|credential|authorization|cookie|signature|^sig$|^code$/i;
/** Fields whose names sound like secrets and are none. */
const plainName = /tokeni[sz]er|keyword|tokens$|(url|endpoint|header|name|type)$|public/i;
/** The object in a tool of a web API that says where a parameter goes. Its `key` is the name of the parameter. */
const parameterInfo = 'parameter_info';
const scheme = /^(bearer|basic|token|key|apikey|api-key) +\S/i;

/** Puts references to the environment in the place of secrets: one variable for each secret, named after where it stands first. */
export class Variables {
  readonly #notes: Notes;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** Keeps the variables that a text names already, and those that are named, from being given to other secrets. */
  reserve(text: string, names: Iterable<string> = []): void {
    for (const name of [...text.matchAll(/(?:os\.environ\/|\$\{)([A-Za-z_]\w*)/g)].map(([, found = '']) => found))
      this.#taken.add(name);
    for (const name of names) this.#taken.add(name);
  }

  /** A reference in the place of a secret; one that is a reference already stays. */
  reference(secret: string, path: Path, wish: string): string {
    const written = this.environment(secret);
    if (isReference(written)) return written;
    const name = this.#names.get(secret) ?? this.#free(wish);
    this.#names.set(secret, name);
    const reference = `\${${name}}`;
    this.#notes.mention(path, `is a secret and stands as ${reference} in the result: set it in the environment`);
    return reference;
  }

  /** A text that may name variables, such as an address: `os.environ/NAME` as `${NAME}`, other text as it was, with a plain `${` escaped. */
  environment(text: string): string {
    const [, name] = ofPython.exec(text) ?? [];
    if (name !== undefined) return `\${${name}}`;
    return writtenReference.test(text) ? text : escaped(text);
  }

  /** A text that people read: it comes from the environment only as a whole. */
  text(text: string): string {
    return isReference(text) || ofPython.test(text) ? this.environment(text) : escaped(text);
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
        return value !== '' && isSecretName(name) ? `${name}=${this.reference(decoded(value), path, `${wish}_${name}`)}` : part;
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
    for (let nth = 2; this.#taken.has(name); nth += 1) name = `${plain}_${nth}`;
    this.#taken.add(name);
    return name;
  }
}

/** A text in which a plain `${` stands for itself. */
function escaped(text: string): string {
  return text.replaceAll('${', () => '$${');
}

function isSecretName(name: string): boolean {
  return secretName.test(name) && !plainName.test(name);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
