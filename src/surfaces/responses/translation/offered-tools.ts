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

const longest = 64;
const hashLength = 8;
const plainName = /[^a-zA-Z0-9_-]/g;

/** What a function of the compat wire stands for in the dialect. */
export interface OfferedTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly namespace?: string;
  /** The function as the compat wire offers it. */
  readonly offer: JsonObject;
}

/**
 * Tools that a model may call, under names that the compat wire takes: those of a namespace are flattened, long ones
 * shortened, and all of them known again in the reply.
 */
export class OfferedTools {
  readonly #byFlatName = new Map<string, OfferedTool>();
  readonly #flatNames = new Map<string, string>();
  #allowed: ReadonlySet<string> | undefined;

  /** Offers a tool; one that only upstreams of the dialect know is none here. */
  add(tool: ResponsesTool): void {
    if (isNamespaceTool(tool)) for (const inner of tool.tools) this.#offer(inner, tool);
    else if (isFunctionTool(tool) || isCustomTool(tool)) this.#offer(tool);
  }

  /** Limits the calls of a reply to these names on the compat wire. */
  restrictTo(flatNames: ReadonlySet<string>): void {
    this.#allowed = flatNames;
  }

  /** Whether a reply may call the tool of that name on the compat wire. */
  isAllowed(flatName: string): boolean {
    return this.#allowed?.has(flatName) ?? true;
  }

  get isEmpty(): boolean {
    return this.#byFlatName.size === 0;
  }

  /** By their names on the compat wire. */
  get all(): ReadonlyMap<string, OfferedTool> {
    return this.#byFlatName;
  }

  /** The name that a tool has on the compat wire, whether it is offered or only in the conversation. */
  getFlatName(name: string, namespace?: string): string {
    return this.#flatNames.get(toKey(name, namespace)) ?? flattened(name, namespace);
  }

  /** The same, if it is offered. */
  offeredAs(name: string, namespace?: string): string | undefined {
    return this.#flatNames.get(toKey(name, namespace));
  }

  /** What a name in a reply stands for; a model may also call what nobody offered. */
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

/** A grammar cannot be held to here: the model is told of it. */
function toDescription({ description = '', format }: CustomTool): string {
  if (format?.type !== 'grammar' || format.definition === undefined) return description;
  return `${description}\n\nThe input must follow this ${format.syntax ?? 'lark'} grammar:\n${format.definition}`.trimStart();
}

/** The input of a custom tool as the arguments of its function. */
export function toArguments(input: string): string {
  return JSON.stringify({ input });
}

/** The same back. A model that does not keep to the form is taken at its word. */
export function toInput(args: string): string {
  const value = tryParseJson(args);
  if (!isJsonObject(value)) return args;
  if (typeof value.input === 'string') return value.input;
  const [only, ...rest] = Object.values(value);
  return typeof only === 'string' && rest.length === 0 ? only : args;
}

function toKey(name: string, namespace = ''): string {
  return JSON.stringify([namespace, name]);
}

/** A name of a namespace as one name that the compat wire takes. */
export function flattened(name: string, namespace: string | undefined): string {
  const fullName = namespace === undefined ? name : `${namespace}${namespace.endsWith('_') ? '' : '__'}${name}`;
  const plain = fullName.replace(plainName, '_');
  return plain === fullName && fullName.length <= longest ? fullName : withHash(plain, toKey(name, namespace));
}

function withHash(name: string, key: string): string {
  return `${name.slice(0, longest - hashLength - 1)}_${hash('sha256', key, 'hex').slice(0, hashLength)}`;
}
