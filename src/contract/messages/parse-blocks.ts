import { type TObject, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { requestFault, requireShape } from '../request-fault.ts';
import { requireUrlLength } from '../url-length.ts';

const text = Type.String();
const orNull = Type.Union([Type.String(), Type.Null()]);
const typed = Type.Object({ type: text });
const source = Type.Object({ source: typed });

const blockShapes = toShapes({
  text: Type.Object({ text }),
  image: source,
  document: Type.Object({ source: typed, title: Type.Optional(orNull), context: Type.Optional(orNull) }),
  tool_use: Type.Object({ id: text, name: text, input: Type.Unsafe<object>({ type: 'object' }) }),
  tool_result: Type.Object({
    tool_use_id: text,
    content: Type.Optional(Type.Union([text, Type.Array(typed)])),
    is_error: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
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

const onlyIn: ReadonlyMap<string, string> = new Map([
  ['tool_use', 'assistant'],
  ['thinking', 'assistant'],
  ['redacted_thinking', 'assistant'],
  ['tool_result', 'user'],
]);

interface Typed {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Where blocks stand. */
interface Place {
  readonly role: string;
  /** Such as `messages[0].content`. */
  readonly at: string;
}

/** Checks the blocks of a message; those of a type that is not known are let through. Throws invalid_request. */
export function parseBlocks(blocks: readonly { type: string }[], { role, at }: Place): void {
  blocks.forEach((block, index) => {
    parseBlock(block as Typed, { role, at: `${at}[${index}]` });
  });
}

function parseBlock(block: Typed, { role, at }: Place): void {
  const shape = blockShapes.get(block.type);
  if (shape === undefined) return;
  requireShape(shape, block, at);
  const allowed = onlyIn.get(block.type);
  if (allowed !== undefined && allowed !== role)
    throw requestFault(`${at}.type`, `must not be ${block.type} in a message of the ${role}`);
  if (block.type === 'tool_result' || block.type === 'search_result') parseInner(block.content, { role, at: `${at}.content` });
  if (block.type !== 'image' && block.type !== 'document') return;
  const from = block.source as Typed;
  const sourceShape = sourceShapes.get(from.type);
  if (sourceShape === undefined) return;
  requireShape(sourceShape, from, `${at}.source`);
  if (from.type === 'url') requireUrlLength(String(from.url), `${at}.source.url`);
  if (from.type === 'content') parseInner(from.content, { role, at: `${at}.source.content` });
}

function parseInner(content: unknown, place: Place): void {
  if (Array.isArray(content)) parseBlocks(content as Typed[], place);
}

function toShapes(schemas: Readonly<Record<string, TObject>>) {
  return new Map(Object.entries(schemas).map(([type, schema]) => [type, Compile(schema)]));
}
