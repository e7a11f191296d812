import type { JsonObject } from '#base/json/json.ts';
import { maxFunctionNameChars, toHashedName } from '#contract/chat/function-calling.ts';
import type { Tool } from '#domain/tools/tool.ts';

/** A tool definition for a model (`tools` of the OpenAI API). */
export interface ToolDefinition {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
}

/** Tools by the names that a model uses: unique, at most 64 characters of letters, digits, `_`, and `-`. */
export class Toolset {
  readonly #byName = new Map<string, Tool>();
  readonly #hiddenNames = new Set<string>();
  readonly #reservedNames: ReadonlySet<string>;

  /** If two tools have the same name, the first one keeps it. `reservedNames` are not available. */
  constructor(tools: readonly Tool[], reservedNames: ReadonlySet<string>) {
    this.#reservedNames = reservedNames;
    for (const tool of tools) this.#byName.set(this.#findFreeName(tool.name), tool);
  }

  /** Adds a tool that is hidden until `offer` is called. Returns the name for the model. */
  prepare(tool: Tool): string {
    const name = this.#findFreeName(tool.name);
    this.#byName.set(name, tool);
    this.#hiddenNames.add(name);
    return name;
  }

  offer(name: string): void {
    this.#hiddenNames.delete(name);
  }

  get definitions(): ToolDefinition[] {
    return [...this.#byName].flatMap(([name, { description, parameters }]) =>
      this.#hiddenNames.has(name) ? [] : [{ type: 'function', function: { name, description, parameters } }],
    );
  }

  /** Returns the tool with the name that a model called. */
  find(name: string): Tool | undefined {
    return this.#hiddenNames.has(name) ? undefined : this.#byName.get(name);
  }

  #findFreeName(requestedName: string): string {
    const isFree = (name: string): boolean => !this.#reservedNames.has(name) && !this.#byName.has(name);
    let name = fitName(requestedName);
    for (let attempt = 2; !isFree(name); attempt += 1)
      name = toHashedName(toReadableName(requestedName), `${requestedName}\n${attempt}`);
    return name;
  }
}

/** Returns the name in a form that models accept. A valid name is returned unchanged. */
export function fitName(name: string): string {
  const readable = toReadableName(name);
  return readable === '' || readable.length > maxFunctionNameChars ? toHashedName(readable, name) : readable;
}

function toReadableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]+/g, '_');
}
