import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { truncate } from '#base/text/truncate.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { CountRequest } from '#contract/messages/messages-request.ts';
import type { UpstreamCapabilities } from './upstream-capabilities.ts';

/** Fields that the translation of a request omits. */
export interface UnsupportedFields {
  /** Names such as `top_k`, `thinking.display`, and `content.citations`. Omitting them does not impair the reply. */
  readonly ignored: readonly string[];
  /** The 400 error for the first field that the translation must not omit. */
  readonly error: ParleyError | undefined;
}

const unsupported =
  'which this deployment does not support. Remove it, or use a deployment whose upstream supports the Messages API';
const maxNameLength = 64;
const maxNames = 1000;

/** Finds the fields that the translation of a request omits. Ignores null values. */
export function findUnsupported(body: CountRequest, capabilities: UpstreamCapabilities): UnsupportedFields {
  return new Search(capabilities).of(body);
}

class Search {
  readonly #capabilities: UpstreamCapabilities;
  readonly #ignored = new Set<string>();
  #error: ParleyError | undefined;

  constructor(capabilities: UpstreamCapabilities) {
    this.#capabilities = capabilities;
  }

  of(body: CountRequest): UnsupportedFields {
    this.#fields('', body, [...keys.request, ...(this.#capabilities.acceptsThinking ? ['top_k'] : [])]);
    for (const part of ['thinking', 'output_config', 'metadata', 'tool_choice'] as const)
      if (isJsonObject(body[part])) this.#fields(part, body[part], keys[part]);
    if (body.thinking?.type === 'disabled' && !this.#capabilities.acceptsThinking) this.#ignore('thinking');
    if ((body as JsonObject).max_tokens === 0) this.#reject('max_tokens', 'max_tokens', 'is 0');
    if (Array.isArray(body.mcp_servers) && body.mcp_servers.length > 0)
      this.#reject('mcp_servers', 'mcp_servers', 'contains MCP servers for the model');
    body.tools?.forEach((tool, index) => {
      this.#tool(tool, `tools[${index}]`);
    });
    this.#toolChoice(body);
    if (Array.isArray(body.system)) this.#blocks(body.system, 'system', 'system');
    body.messages.forEach((message, index) => {
      this.#fields('messages', message, keys.messages);
      this.#blocks(message.content, message.role, `messages[${index}].content`);
    });
    return { ignored: [...this.#ignored], error: this.#error };
  }

  #tool(tool: JsonObject, at: string): void {
    this.#fields('tools', tool, keys.tools);
    if (tool.input_schema !== undefined) return;
    if ((tool.type ?? 'custom') === 'custom') this.#reject('tools', `${at}.input_schema`, 'is missing');
    else this.#ignore(`tools.${tool.type}`);
  }

  /** Tools that another vendor runs are omitted, unless the request forces a call to one of them. */
  #toolChoice({ tools = [], tool_choice: choice }: CountRequest): void {
    const otherTools = tools.filter(({ input_schema }) => input_schema === undefined);
    if (otherTools.length === 0) return;
    const isForced = choice?.type === 'tool' && otherTools.some(({ name }) => name === choice.name);
    if (isForced) this.#reject('tool_choice', 'tool_choice.name', `is ${formatType(choice.name)}`);
    if (choice?.type === 'any' && otherTools.length === tools.length)
      this.#reject('tool_choice', 'tool_choice', 'requires a server-side tool of another vendor');
  }

  #blocks(blocks: unknown, context: string, at: string): void {
    if (!Array.isArray(blocks)) return;
    blocks.filter(isJsonObject).forEach((block, index) => {
      this.#block(block, context, `${at}[${index}]`);
    });
  }

  #block(block: JsonObject, context: string, at: string): void {
    const type = String(block.type);
    if (!blocksAt[context]?.includes(type) || !isTellable(block)) {
      this.#reject(`content.${type}`, `${at}.type`, `is ${formatType(type)}`);
      return;
    }
    const marks = this.#capabilities.acceptsCacheMarks && marked.has(type) ? ['cache_control'] : [];
    this.#fields('content', block, ['type', ...(blockKeys.get(type) ?? []), ...marks]);
    if (type === 'tool_result' || type === 'search_result') this.#blocks(block.content, type, `${at}.content`);
    if (sourceTypes.has(type) && isJsonObject(block.source)) this.#source(type, block.source, `${at}.source`);
  }

  #source(of: string, source: JsonObject, at: string): void {
    const type = String(source.type);
    if (!sourceTypes.get(of)?.includes(type)) this.#reject(`content.source.${type}`, `${at}.type`, `is ${formatType(type)}`);
    else this.#blocks(source.content, of, `${at}.content`);
  }

  #fields(part: string, value: object, knownFields: readonly string[]): void {
    for (const [key, fieldValue] of Object.entries(value)) {
      if (knownFields.includes(key) || (fieldValue ?? null) === null) continue;
      this.#ignore(part === '' || key === 'cache_control' ? key : `${part}.${key}`);
    }
  }

  /** The names outlive the request, so they are limited to the size of a header. */
  #ignore(name: string): void {
    if (this.#ignored.size < maxNames) this.#ignored.add(name.slice(0, maxNameLength));
  }

  #reject(name: string, param: string, claim: string): void {
    this.#ignore(name);
    this.#error ??= createRequestError(param, `${claim}, ${unsupported}`);
  }
}

/** Returns whether a tool change can be translated. Only a tool name can be converted to text. */
function isTellable({ type, tool }: JsonObject): boolean {
  if (type !== 'tool_addition' && type !== 'tool_removal') return true;
  return isJsonObject(tool) && tool.type === 'tool_reference' && typeof tool.name === 'string';
}

function formatType(type: unknown): string {
  return truncate(String(type), maxNameLength);
}

/** Translated keys of each part of a request. */
const keys = {
  request: [
    ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'metadata'],
    ...['max_tokens', 'stream', 'stop_sequences', 'temperature', 'top_p', 'mcp_servers'],
  ],
  thinking: ['type', 'budget_tokens'],
  output_config: ['effort', 'format'],
  metadata: ['user_id'],
  tools: ['name', 'type', 'description', 'input_schema', 'strict'],
  tool_choice: ['type', 'name', 'disable_parallel_tool_use'],
  messages: ['role', 'content', 'parley'],
} as const;

/** Translated keys of each block, in addition to its type. */
const blockKeys: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['image', ['source']],
  ['document', ['source', 'title', 'context']],
  ['search_result', ['title', 'source', 'content']],
  ['tool_reference', ['tool_name']],
  ['tool_addition', ['tool']],
  ['tool_removal', ['tool']],
  ['tool_use', ['id', 'name', 'input']],
  ['tool_result', ['tool_use_id', 'content', 'is_error']],
  ['thinking', ['thinking', 'signature']],
  ['redacted_thinking', ['data']],
]);

const toRead = ['text', 'image', 'document', 'search_result'];
/** Translated blocks in each context. */
const blocksAt: Readonly<Record<string, readonly string[]>> = {
  user: [...toRead, 'tool_result'],
  assistant: ['text', 'tool_use', 'thinking', 'redacted_thinking'],
  system: ['text', 'tool_addition', 'tool_removal'],
  tool_result: [...toRead, 'tool_reference'],
  document: ['text', 'image'],
  search_result: ['text'],
};

/** Translated source types of each block. File stores of other vendors cannot be read. */
const sourceTypes: ReadonlyMap<string, readonly string[]> = new Map([
  ['image', ['base64', 'url']],
  ['document', ['base64', 'url', 'text', 'content']],
]);
/** Blocks that may carry a cache mark. */
const marked: ReadonlySet<string> = new Set([...toRead, 'tool_result']);
