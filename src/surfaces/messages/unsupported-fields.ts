import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { truncate } from '#base/text/truncate.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { CountRequest } from '#contract/messages/messages-request.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { speaksMessages, type Upstream } from '#domain/upstreams/upstream.ts';

/** Features of the upstreams of a deployment. */
export interface UpstreamCapabilities {
  /** Whether an upstream supports the Messages API. If so, the request is accepted even if it cannot be translated. */
  readonly mayBeRelayed: boolean;
  /** Whether all upstreams support prompt cache breakpoints (`cache_control`). */
  readonly acceptsCacheControl: boolean;
  /** Whether all upstreams support `top_k` and `thinking` in the form of the Messages API. */
  readonly acceptsThinking: boolean;
}

/** Returns the features of the upstreams of a deployment. An application has no such features. */
export function getCapabilities({ kind, upstreams: all }: Deployment): UpstreamCapabilities {
  const upstreams = kind === 'model' ? all : [];
  const every = (accepts: (upstream: Upstream) => boolean): boolean => upstreams.length > 0 && upstreams.every(accepts);
  return {
    mayBeRelayed: upstreams.some(speaksMessages),
    acceptsCacheControl: every((upstream) => speaksMessages(upstream) || protocols[upstream.protocol].acceptsCacheControl),
    acceptsThinking: every(({ protocol }) => protocols[protocol].acceptsThinking),
  };
}

/** Fields that the translation of a request omits. */
export interface UnsupportedFields {
  /** Names such as `top_k`, `thinking.display`, and `content.citations`. Omitting them does not impair the reply. */
  readonly ignored: readonly string[];
  /** The 400 error for the first field that the translation must not omit. */
  readonly error: ParleyError | undefined;
}

const unsupportedText =
  'which this deployment does not support. Remove it, or use a deployment whose upstream supports the Messages API';
const maxNameLength = 64;
const maxNames = 1000;

/** Finds the fields that the translation of a request omits. Ignores null values. */
export function findUnsupported(body: CountRequest, capabilities: UpstreamCapabilities): UnsupportedFields {
  return new FieldCheck(capabilities).run(body);
}

/** Check of one request. Collects the fields that its translation omits. */
class FieldCheck {
  readonly #capabilities: UpstreamCapabilities;
  readonly #ignored = new Set<string>();
  #error: ParleyError | undefined;

  constructor(capabilities: UpstreamCapabilities) {
    this.#capabilities = capabilities;
  }

  run(body: CountRequest): UnsupportedFields {
    this.#checkFields('', body, [...translatedKeys.request, ...(this.#capabilities.acceptsThinking ? ['top_k'] : [])]);
    for (const part of ['thinking', 'output_config', 'metadata', 'tool_choice'] as const)
      if (isJsonObject(body[part])) this.#checkFields(part, body[part], translatedKeys[part]);
    if (body.thinking?.type === 'disabled' && !this.#capabilities.acceptsThinking) this.#ignore('thinking');
    if ((body as JsonObject).max_tokens === 0) this.#reject('max_tokens', 'max_tokens', 'is 0');
    if (Array.isArray(body.mcp_servers) && body.mcp_servers.length > 0)
      this.#reject('mcp_servers', 'mcp_servers', 'contains MCP servers for the model');
    body.tools?.forEach((tool, index) => {
      this.#checkTool(tool, `tools[${index}]`);
    });
    this.#checkToolChoice(body);
    if (Array.isArray(body.system)) this.#checkBlocks(body.system, 'system', 'system');
    body.messages.forEach((message, index) => {
      this.#checkFields('messages', message, translatedKeys.messages);
      this.#checkBlocks(message.content, message.role, `messages[${index}].content`);
    });
    return { ignored: [...this.#ignored], error: this.#error };
  }

  #checkTool(tool: JsonObject, path: string): void {
    this.#checkFields('tools', tool, translatedKeys.tools);
    if (tool.input_schema !== undefined) return;
    if ((tool.type ?? 'custom') === 'custom') this.#reject('tools', `${path}.input_schema`, 'is missing');
    else this.#ignore(`tools.${tool.type}`);
  }

  /** Tools that another vendor runs are omitted, unless the request forces a call to one of them. */
  #checkToolChoice({ tools = [], tool_choice: choice }: CountRequest): void {
    const otherTools = tools.filter(({ input_schema }) => input_schema === undefined);
    if (otherTools.length === 0) return;
    const isForced = choice?.type === 'tool' && otherTools.some(({ name }) => name === choice.name);
    if (isForced) this.#reject('tool_choice', 'tool_choice.name', `is ${formatType(choice.name)}`);
    if (choice?.type === 'any' && otherTools.length === tools.length)
      this.#reject('tool_choice', 'tool_choice', 'requires a server-side tool of another vendor');
  }

  #checkBlocks(blocks: unknown, context: string, path: string): void {
    if (!Array.isArray(blocks)) return;
    blocks.filter(isJsonObject).forEach((block, index) => {
      this.#checkBlock(block, context, `${path}[${index}]`);
    });
  }

  #checkBlock(block: JsonObject, context: string, path: string): void {
    const type = String(block.type);
    if (!blocksByContext[context]?.includes(type) || !isTranslatableChange(block)) {
      this.#reject(`content.${type}`, `${path}.type`, `is ${formatType(type)}`);
      return;
    }
    const marks = this.#capabilities.acceptsCacheControl && markableBlocks.has(type) ? ['cache_control'] : [];
    this.#checkFields('content', block, ['type', ...(blockKeys.get(type) ?? []), ...marks]);
    if (type === 'tool_result' || type === 'search_result') this.#checkBlocks(block.content, type, `${path}.content`);
    if (sourceTypes.has(type) && isJsonObject(block.source)) this.#checkSource(type, block.source, `${path}.source`);
  }

  #checkSource(blockType: string, source: JsonObject, path: string): void {
    const type = String(source.type);
    if (!sourceTypes.get(blockType)?.includes(type))
      this.#reject(`content.source.${type}`, `${path}.type`, `is ${formatType(type)}`);
    else this.#checkBlocks(source.content, blockType, `${path}.content`);
  }

  #checkFields(part: string, value: object, knownFields: readonly string[]): void {
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
    this.#error ??= createRequestError(param, `${claim}, ${unsupportedText}`);
  }
}

/** Returns false for a tool change that cannot be translated, because only a tool name can be converted to text. */
function isTranslatableChange({ type, tool }: JsonObject): boolean {
  if (type !== 'tool_addition' && type !== 'tool_removal') return true;
  return isJsonObject(tool) && tool.type === 'tool_reference' && typeof tool.name === 'string';
}

function formatType(type: unknown): string {
  return truncate(String(type), maxNameLength);
}

/** Translated keys of each part of a request. */
const translatedKeys = {
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

const readableBlocks = ['text', 'image', 'document', 'search_result'];
/** Types of translated blocks in each context. */
const blocksByContext: Readonly<Record<string, readonly string[]>> = {
  user: [...readableBlocks, 'tool_result'],
  assistant: ['text', 'tool_use', 'thinking', 'redacted_thinking'],
  system: ['text', 'tool_addition', 'tool_removal'],
  tool_result: [...readableBlocks, 'tool_reference'],
  document: ['text', 'image'],
  search_result: ['text'],
};

/** Translated source types of each block. File stores of other vendors cannot be read. */
const sourceTypes: ReadonlyMap<string, readonly string[]> = new Map([
  ['image', ['base64', 'url']],
  ['document', ['base64', 'url', 'text', 'content']],
]);
/** Blocks that can have a prompt cache breakpoint (`cache_control`). */
const markableBlocks: ReadonlySet<string> = new Set([...readableBlocks, 'tool_result']);
