import { type Static, type TObject, Type } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { checkFields, createRequestError, requireShape, requireUrlLength, type Shape } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { mapField, mapItems, withoutEmptyTools, withoutNulls } from '../schemas/normalize-request.ts';
import { anyObject, orNull } from '../schemas/type-builders.ts';
import { type MessagesRequest, parseParleyExtension } from './dialect.ts';

const toolName = Type.String({ pattern: '^[a-zA-Z0-9_-]{1,128}$' });

const message = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system'], { description: 'Author of the message.' }),
  content: Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() }))], {
    description: 'The text, or its blocks: text, images, documents, tool calls and results, thinking.',
  }),
  parley: Type.Optional(
    anyObject('In assistant messages: `parley` of the reply, unchanged. In user messages: `custom_content` with attachments.'),
  ),
});

const fields = {
  model: Type.String({ description: 'ID of the deployment.' }),
  messages: Type.Array(message, { minItems: 1 }),
  system: Type.Optional(Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String(), text: Type.String() }))])),
  tools: Type.Optional(
    Type.Array(
      Type.Object({
        name: toolName,
        type: Type.Optional(orNull(Type.String())),
        description: Type.Optional(Type.String()),
        input_schema: Type.Optional(anyObject('A JSON Schema of an object.')),
      }),
    ),
  ),
  tool_choice: Type.Optional(
    Type.Object({
      type: Type.Enum(['auto', 'any', 'tool', 'none']),
      name: Type.Optional(toolName),
      disable_parallel_tool_use: Type.Optional(Type.Boolean()),
    }),
  ),
  thinking: Type.Optional(
    Type.Object(
      { type: Type.String(), budget_tokens: Type.Optional(Type.Integer({ minimum: 1 })) },
      { description: 'Settings for thinking before the answer.' },
    ),
  ),
  output_config: Type.Optional(anyObject('Effort, and the format of the answer.')),
};

const generation = {
  max_tokens: Type.Integer({
    minimum: 0,
    description: 'Maximum number of tokens to generate. 0 only fills the prompt cache, if the upstream uses this dialect.',
  }),
  stream: Type.Optional(Type.Boolean({ default: false })),
  stop_sequences: Type.Optional(Type.Array(Type.String())),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 1 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: Type.Optional(Type.Integer({ minimum: 0 })),
  metadata: Type.Optional(
    Type.Object({ user_id: Type.Optional(orNull(Type.String())) }, { description: 'Identity of the end user.' }),
  ),
};

/**
 * The body of `POST …/v1/messages` (docs/compatibility.md, Messages API), for the API description. `parseMessagesRequest`
 * validates it. Unknown fields are kept.
 */
export const MessagesBody = Type.Object({ ...fields, ...generation });

/** The body of `POST …/v1/messages/count_tokens`, for the API description. `parseCountRequest` validates it. */
export const CountBody = Type.Object(fields);

/** A request without `max_tokens`, for counting its tokens. */
export type CountRequest = {
  [Key in keyof MessagesRequest as Key extends 'max_tokens' ? never : Key]: MessagesRequest[Key];
};

const messagesShape = toShape(MessagesBody);
const countShape = toShape(CountBody);
const knownMessageFields: ReadonlySet<string> = new Set(Object.keys(message.properties));

/** Validates the known fields of a Messages request and keeps the others. Throws `invalid_request` for the first error. */
export function parseMessagesRequest(value: unknown): MessagesRequest {
  return parse(messagesShape, value) as MessagesRequest;
}

/** Validates a request for counting tokens, which does not require `max_tokens`. Throws `invalid_request` for the first error. */
export function parseCountRequest(value: unknown): CountRequest {
  return parse(countShape, value) as CountRequest;
}

interface BodyShape {
  readonly knownFields: ReadonlySet<string>;
  /** Optional fields, including those that only the other body has. */
  readonly optional: ReadonlySet<string>;
  readonly shape: Shape<Static<typeof CountBody>>;
}

function toShape(body: TObject<typeof fields>): BodyShape {
  const required: readonly string[] = body.required ?? [];
  const optional = new Set(Object.keys({ ...fields, ...generation }).filter((field) => !required.includes(field)));
  return { knownFields: new Set(Object.keys(body.properties)), optional, shape: compileShape(body) };
}

function parse({ knownFields, optional, shape }: BodyShape, value: unknown): Static<typeof CountBody> {
  if (isJsonObject(value)) checkFields(value, knownFields);
  const body = requireShape(shape, isJsonObject(value) ? withoutAbsent(value, optional) : value);
  if (body.tool_choice?.type === 'tool' && body.tool_choice.name === undefined)
    throw createRequestError('tool_choice.name', 'is required with the type tool');
  body.messages.forEach((message, index) => {
    const path = `messages[${index}]`;
    checkFields(message, knownMessageFields, path);
    if (typeof message.content !== 'string') parseBlocks(message.content, { role: message.role, path: `${path}.content` });
    if (message.parley !== undefined) parseParleyExtension(message.role, message.parley, `${path}.parley`);
  });
  return body;
}

const text = Type.String();
const typed = Type.Object({ type: text });
const source = Type.Object({ source: typed });

const blockShapes = toShapes({
  text: Type.Object({ text }),
  image: source,
  document: Type.Object({ source: typed, title: Type.Optional(orNull(text)), context: Type.Optional(orNull(text)) }),
  tool_use: Type.Object({ id: text, name: text, input: Type.Unsafe<object>({ type: 'object' }) }),
  tool_result: Type.Object({
    tool_use_id: text,
    content: Type.Optional(Type.Union([text, Type.Array(typed)])),
    is_error: Type.Optional(orNull(Type.Boolean())),
  }),
  search_result: Type.Object({ title: text, source: text, content: Type.Array(typed) }),
  tool_reference: Type.Object({ tool_name: text }),
  thinking: Type.Object({ thinking: text, signature: text }),
  redacted_thinking: Type.Object({ data: text }),
});

const sourceShapes = toShapes({
  base64: Type.Object({ media_type: text, data: text }),
  url: Type.Object({ url: text }),
  text: Type.Object({ media_type: text, data: text }),
  content: Type.Object({ content: Type.Union([text, Type.Array(typed)]) }),
  file: Type.Object({ file_id: text }),
});

const requiredRoles: ReadonlyMap<string, string> = new Map([
  ['tool_use', 'assistant'],
  ['thinking', 'assistant'],
  ['redacted_thinking', 'assistant'],
  ['tool_result', 'user'],
]);

interface TypedBlock {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Role and path of a list of blocks. */
interface BlockLocation {
  readonly role: string;
  /** Path such as `messages[0].content`. */
  readonly path: string;
}

/** Validates the blocks of a message. Unknown types are accepted. Throws `invalid_request`. */
function parseBlocks(blocks: readonly { type: string }[], { role, path }: BlockLocation): void {
  blocks.forEach((block, index) => {
    parseBlock(block as TypedBlock, { role, path: `${path}[${index}]` });
  });
}

function parseBlock(block: TypedBlock, { role, path }: BlockLocation): void {
  const shape = blockShapes.get(block.type);
  if (shape === undefined) return;
  requireShape(shape, block, path);
  const requiredRole = requiredRoles.get(block.type);
  if (requiredRole !== undefined && requiredRole !== role)
    throw createRequestError(`${path}.type`, `must not be ${block.type} in a message with the role ${role}`);
  if (block.type === 'tool_result' || block.type === 'search_result')
    parseNestedBlocks(block.content, { role, path: `${path}.content` });
  if (block.type !== 'image' && block.type !== 'document') return;
  const from = block.source as TypedBlock;
  const sourceShape = sourceShapes.get(from.type);
  if (sourceShape === undefined) return;
  requireShape(sourceShape, from, `${path}.source`);
  if (from.type === 'url') requireUrlLength(String(from.url), `${path}.source.url`);
  if (from.type === 'content') parseNestedBlocks(from.content, { role, path: `${path}.source.content` });
}

function parseNestedBlocks(content: unknown, context: BlockLocation): void {
  if (Array.isArray(content)) parseBlocks(content as TypedBlock[], context);
}

function toShapes(schemas: Readonly<Record<string, TObject>>) {
  return new Map(Object.entries(schemas).map(([type, schema]) => [type, compileShape(schema)]));
}

/** Fields whose null counts as absence, by part of the request. */
const nullable = {
  tool: new Set(['type', 'description', 'input_schema', 'cache_control']),
  tool_choice: new Set(['name', 'disable_parallel_tool_use']),
  thinking: new Set(['budget_tokens', 'display']),
  output_config: new Set(['effort', 'format']),
  metadata: new Set(['user_id']),
  message: new Set(['parley']),
  block: new Set(['cache_control', 'citations', 'title', 'context', 'is_error']),
  tool_result: new Set(['cache_control', 'content', 'is_error']),
};

/**
 * Returns the body without optional fields that are null and without an empty list of tools. `optional` are the optional fields
 * of the body itself.
 */
function withoutAbsent(value: JsonObject, optional: ReadonlySet<string>): unknown {
  let body: unknown = withoutEmptyTools(withoutNulls(value, optional), ['tools', 'tool_choice']);
  for (const part of ['tool_choice', 'thinking', 'output_config', 'metadata'] as const)
    body = mapField(body, part, (partValue) => withoutNulls(partValue, nullable[part]));
  body = mapField(body, 'tools', (tools) => mapItems(tools, (tool) => withoutNulls(tool, nullable.tool)));
  body = mapField(body, 'system', cleanBlocks);
  return mapField(body, 'messages', (messages) => mapItems(messages, cleanMessage));
}

function cleanMessage(message: unknown): unknown {
  return mapField(withoutNulls(message, nullable.message), 'content', cleanBlocks);
}

function cleanBlocks(blocks: unknown): unknown {
  return mapItems(blocks, cleanBlock);
}

function cleanBlock(block: unknown): unknown {
  const isResult = isJsonObject(block) && block.type === 'tool_result';
  const clean = withoutNulls(block, isResult ? nullable.tool_result : nullable.block);
  return isResult ? mapField(clean, 'content', cleanBlocks) : clean;
}
