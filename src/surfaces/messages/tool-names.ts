import { hash } from 'node:crypto';

const maxNameChars = 64;
const hashLength = 8;

/** Tool names for chat completions. Shortens names of more than 64 characters and restores them in the reply. */
export class ToolNames {
  readonly #full = new Map<string, string>();

  shorten(name: string): string {
    if (name.length <= maxNameChars) return name;
    const short = `${name.slice(0, maxNameChars - hashLength - 1)}_${hash('sha256', name, 'hex').slice(0, hashLength)}`;
    this.#full.set(short, name);
    return short;
  }

  restore(name: string): string {
    return this.#full.get(name) ?? name;
  }
}
