import { filterObjects, isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { type Frame, listEventObjects } from '#contract/chat/frame.ts';
import { maxFunctionNameChars, toHashedName } from '#contract/chat/function-calling.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import {
  type CustomTool,
  type FunctionTool,
  isCustomTool,
  isFunctionTool,
  isNamespaceTool,
  type ResponsesTool,
} from '#contract/responses/tools.ts';

const invalidNameChars = /[^a-zA-Z0-9_-]/g;

/** A tool that is offered as a function in the chat completions request. */
export interface OfferedTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly namespace?: string;
  /** The function in the chat completions request. */
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

  /** All tools by flat name. */
  get all(): ReadonlyMap<string, OfferedTool> {
    return this.#byFlatName;
  }

  /** Returns the flat name of a tool, even if it occurs only in the conversation and is not offered. */
  getFlatName(name: string, namespace?: string): string {
    return this.#flatNames.get(toKey(name, namespace)) ?? flattenName(name, namespace);
  }

  /** Returns the flat name of an offered tool. */
  findFlatName(name: string, namespace?: string): string | undefined {
    return this.#flatNames.get(toKey(name, namespace));
  }

  /** Returns the tool for a flat name in a reply. A model may also call a tool that was not offered. */
  getTool(flatName: string): Omit<OfferedTool, 'offer'> {
    return this.#byFlatName.get(flatName) ?? { kind: 'function', name: flatName };
  }

  #offer(tool: FunctionTool | CustomTool, namespace?: { name: string; description?: string }): void {
    const key = toKey(tool.name, namespace?.name);
    const plain = flattenName(tool.name, namespace?.name);
    const flatName = this.#byFlatName.has(plain) ? toHashedName(plain, key) : plain;
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

/** Returns the name of a tool and its namespace as one name that is valid in chat completions. */
export function flattenName(name: string, namespace: string | undefined): string {
  const fullName = namespace === undefined ? name : `${namespace}${namespace.endsWith('_') ? '' : '__'}${name}`;
  const plain = fullName.replace(invalidNameChars, '_');
  return plain === fullName && fullName.length <= maxFunctionNameChars ? fullName : toHashedName(plain, toKey(name, namespace));
}

/** Types of tools that the client runs, by the type of the call. Functions and custom tools are identified by name instead. */
const clientRunTools: Readonly<Record<string, readonly string[]>> = {
  apply_patch_call: ['apply_patch'],
  computer_call: ['computer', 'computer_use_preview'],
  local_shell_call: ['local_shell'],
  shell_call: ['shell'],
};

/** Calls that `tool_choice` of the type `allowed_tools` allows in a relayed reply. */
export class AllowedCalls {
  readonly #tools: OfferedTools;
  /** Types of the listed tools. */
  readonly #types: ReadonlySet<unknown>;

  private constructor(tools: OfferedTools, types: ReadonlySet<unknown>) {
    this.#tools = tools;
    this.#types = types;
  }

  /** Returns the calls that a request allows. Undefined if it allows every tool. */
  static create({ tool_choice: choice }: ResponsesRequest, tools: OfferedTools): AllowedCalls | undefined {
    if (typeof choice !== 'object' || choice.type !== 'allowed_tools') return undefined;
    const listedTools = filterObjects(choice.tools);
    return new AllowedCalls(tools, new Set(listedTools.map(({ type }) => type)));
  }

  /** Throws `upstream_failed` if a relayed frame contains a call of a tool outside the list. */
  check({ bytes, native }: Frame): void {
    if (native === undefined || !bytes.includes('_call"')) return;
    if (native.isCompleteReply) return this.#checkResponse(tryParseJson(fromLatin1(bytes)));
    for (const { item, response } of listEventObjects(bytes)) {
      this.#checkItem(item);
      this.#checkResponse(response);
    }
  }

  #checkResponse(response: unknown): void {
    if (!isJsonObject(response) || !Array.isArray(response.output)) return;
    for (const item of response.output) this.#checkItem(item);
  }

  #checkItem(item: unknown): void {
    if (isJsonObject(item) && !this.#isAllowed(item)) throw createCallNotAllowedError(String(item.name ?? item.type));
  }

  #isAllowed({ type, name, namespace }: JsonObject): boolean {
    if (type === 'function_call' || type === 'custom_tool_call') {
      const flatName = this.#tools.findFlatName(String(name), typeof namespace === 'string' ? namespace : undefined);
      return flatName !== undefined && this.#tools.isAllowed(flatName);
    }
    const tools = typeof type === 'string' && Object.hasOwn(clientRunTools, type) ? clientRunTools[type] : undefined;
    return tools?.some((tool) => this.#types.has(tool)) ?? true;
  }
}

/** Returns the error for a call of a tool that `tool_choice` of the request does not allow. */
export function createCallNotAllowedError(name: string): ParleyError {
  const displayedName = JSON.stringify(name.slice(0, 64));
  return new ParleyError(
    'upstream_failed',
    `The model called the tool ${displayedName}, which tool_choice of the request does not allow.`,
  );
}
