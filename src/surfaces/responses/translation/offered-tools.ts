import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import {
  type CustomTool,
  type FunctionTool,
  isCustomTool,
  isFunctionTool,
  isNamespaceTool,
  type ResponsesTool,
} from '#contract/responses/tools.ts';

const maxNameChars = 64;
const hashLength = 8;
const plainName = /[^a-zA-Z0-9_-]/g;

/** The original tool of a function in the chat completions request. */
export interface OfferedTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly namespace?: string;
  /** Function in the chat completions request. */
  readonly offer: JsonObject;
}

/**
 * Tools that a model may call, under names that are valid in chat completions. Flattens namespaces, shortens long names, and
 * restores the names in the reply.
 */
export class OfferedTools {
  readonly #byFlatName = new Map<string, OfferedTool>();
  readonly #flatNames = new Map<string, string>();
  #allowed: ReadonlySet<string> | undefined;

  /** Offers a tool. Ignores types that only upstreams of the Responses API support. */
  add(tool: ResponsesTool): void {
    if (isNamespaceTool(tool)) for (const inner of tool.tools) this.#offer(inner, tool);
    else if (isFunctionTool(tool) || isCustomTool(tool)) this.#offer(tool);
  }

  /** Restricts the calls of a reply to these flat names. */
  restrictTo(flatNames: ReadonlySet<string>): void {
    this.#allowed = flatNames;
  }

  /** Returns whether a reply may call the tool with this flat name. */
  isAllowed(flatName: string): boolean {
    return this.#allowed?.has(flatName) ?? true;
  }

  get isEmpty(): boolean {
    return this.#byFlatName.size === 0;
  }

  /** All tools by flat name. */
  get all(): ReadonlyMap<string, OfferedTool> {
    return this.#byFlatName;
  }

  /** Returns the flat name of a tool, even if it occurs only in the conversation and is not offered. */
  getFlatName(name: string, namespace?: string): string {
    return this.#flatNames.get(toKey(name, namespace)) ?? flattened(name, namespace);
  }

  /** Returns the flat name of an offered tool. */
  offeredAs(name: string, namespace?: string): string | undefined {
    return this.#flatNames.get(toKey(name, namespace));
  }

  /** Returns the tool for a flat name in a reply. A model may also call a tool that was not offered. */
  of(flatName: string): Omit<OfferedTool, 'offer'> {
    return this.#byFlatName.get(flatName) ?? { kind: 'function', name: flatName };
  }

  #offer(tool: FunctionTool | CustomTool, namespace?: { name: string; description?: string }): void {
    const key = toKey(tool.name, namespace?.name);
    const plain = flattened(tool.name, namespace?.name);
    const flatName = this.#byFlatName.has(plain) ? withHash(plain, key) : plain;
    this.#flatNames.set(key, flatName);
    this.#byFlatName.set(flatName, {
      kind: tool.type,
      name: tool.name,
      ...(namespace && { namespace: namespace.name }),
      offer: { type: 'function', function: { name: flatName, ...toFunction(tool) } },
    });
  }
}

function toFunction(tool: FunctionTool | CustomTool): JsonObject {
  if (isFunctionTool(tool)) {
    const { description, parameters, strict } = tool;
    return {
      ...(description !== undefined && { description }),
      parameters: parameters ?? { type: 'object', properties: {} },
      ...(strict === true && { strict }),
    };
  }
  const input = { type: 'string', description: 'The whole input of the tool, as plain text.' };
  return {
    description: toDescription(tool),
    parameters: { type: 'object', properties: { input }, required: ['input'], additionalProperties: false },
  };
}

/** Chat completions do not support grammars, so the description includes the grammar. */
function toDescription({ description = '', format }: CustomTool): string {
  if (format?.type !== 'grammar' || format.definition === undefined) return description;
  return `${description}\n\nThe input must follow this ${format.syntax ?? 'lark'} grammar:\n${format.definition}`.trimStart();
}

/** Returns the function arguments for the input of a custom tool. */
export function toArguments(input: string): string {
  return JSON.stringify({ input });
}

/**
 * Returns the custom tool input from function arguments. If the arguments have an unexpected format, falls back to their only
 * string, or to the complete arguments.
 */
export function toInput(args: string): string {
  const value = tryParseJson(args);
  if (!isJsonObject(value)) return args;
  if (typeof value.input === 'string') return value.input;
  const [only, ...otherValues] = Object.values(value);
  return typeof only === 'string' && otherValues.length === 0 ? only : args;
}

function toKey(name: string, namespace = ''): string {
  return JSON.stringify([namespace, name]);
}

/** Returns a flat name for a tool in a namespace that is valid in chat completions. */
export function flattened(name: string, namespace: string | undefined): string {
  const fullName = namespace === undefined ? name : `${namespace}${namespace.endsWith('_') ? '' : '__'}${name}`;
  const plain = fullName.replace(plainName, '_');
  return plain === fullName && fullName.length <= maxNameChars ? fullName : withHash(plain, toKey(name, namespace));
}

function withHash(name: string, key: string): string {
  return `${name.slice(0, maxNameChars - hashLength - 1)}_${hash('sha256', key, 'hex').slice(0, hashLength)}`;
}
