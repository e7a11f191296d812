import { hash } from 'node:crypto';

const longest = 64;
const hashLength = 8;

/** Names of tools as the compat wire takes them: those over 64 characters are shortened, and known again in the reply. */
export class ToolNames {
  readonly #full = new Map<string, string>();

  shorten(name: string): string {
    if (name.length <= longest) return name;
    const short = `${name.slice(0, longest - hashLength - 1)}_${hash('sha256', name, 'hex').slice(0, hashLength)}`;
    this.#full.set(short, name);
    return short;
  }

  restore(name: string): string {
    return this.#full.get(name) ?? name;
  }
}
