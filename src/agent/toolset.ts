import { createHash } from 'node:crypto';
import type { JsonObject } from '#base/json/json.ts';
import type { Tool } from '#domain/tools/tool.ts';

const maxNameLength = 64;
const hashLength = 8;

/** A tool as a model is offered it (`tools` of the OpenAI wire). */
export interface ToolDefinition {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
}

/** Tools under the names a model knows them by: unique, at most 64 of letters, digits, `_` and `-`. */
export class Toolset {
  readonly #byName = new Map<string, Tool>();
  readonly #unoffered = new Set<string>();
  readonly #taken: ReadonlySet<string>;

  /** The order decides who keeps a name that two have; `taken` are names that belong to others. */
  constructor(tools: readonly Tool[], taken: ReadonlySet<string>) {
    this.#taken = taken;
    for (const tool of tools) this.#byName.set(this.#freeName(tool.name), tool);
  }

  /** Has a tool that is not offered before `offer`; gives the name that the model will know it by. */
  prepare(tool: Tool): string {
    const name = this.#freeName(tool.name);
    this.#byName.set(name, tool);
    this.#unoffered.add(name);
    return name;
  }

  offer(name: string): void {
    this.#unoffered.delete(name);
  }

  get definitions(): ToolDefinition[] {
    return [...this.#byName].flatMap(([name, { description, parameters }]) =>
      this.#unoffered.has(name) ? [] : [{ type: 'function', function: { name, description, parameters } }],
    );
  }

  /** The tool a model called by this name. */
  find(name: string): Tool | undefined {
    return this.#unoffered.has(name) ? undefined : this.#byName.get(name);
  }

  #freeName(wanted: string): string {
    const isFree = (name: string): boolean => !this.#taken.has(name) && !this.#byName.has(name);
    let name = fitName(wanted);
    for (let nth = 2; !isFree(name); nth += 1) name = withHash(wanted, `${wanted}\n${nth}`);
    return name;
  }
}

/** A name models accept: the same if it is one already. */
export function fitName(name: string): string {
  const readable = readableName(name);
  return readable === '' || readable.length > maxNameLength ? withHash(name, name) : readable;
}

function withHash(name: string, hashed: string): string {
  const hash = createHash('sha256').update(hashed).digest('hex').slice(0, hashLength);
  return `${readableName(name).slice(0, maxNameLength - hashLength - 1)}_${hash}`;
}

function readableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]+/g, '_');
}
