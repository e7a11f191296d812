import type { Client, Tool as ListedTool } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { repairSchema } from '#domain/tools/repair-schema.ts';
import { tooLongCode } from './server-fault.ts';

type Transport = Parameters<Client['connect']>[0];
type Listener = NonNullable<Transport['onmessage']>;
type Message = Parameters<Listener>[0];

/** In `_meta` of a tool that no model can be offered. */
const leftOut = 'parley/left-out';
const kindsOfPart: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** The largest page of a list that is read, in values of its JSON. To repair and to check a value takes about 1 µs. */
const maxListValues = 100_000;

/** What the model is told in place of a part of a kind that is not known. */
export const unknownPart = '[A part of a kind that is not known was left out.]';

/** Whether a listed tool is described in a form that nobody can call it by. */
export function isLeftOut({ _meta }: ListedTool): boolean {
  return _meta?.[leftOut] === true;
}

/** Lets a server answer loosely: the SDK would refuse a whole list for one odd tool, and a whole result for one unknown part. */
export function readingLoosely(transport: Transport): Transport {
  let listener: Listener | undefined;
  return Object.defineProperty(transport, 'onmessage', {
    get: () => listener,
    set(given: Listener | undefined) {
      listener = given && ((message, extra) => given(loosened(message), extra));
    },
  });
}

function loosened(message: Message): Message {
  if (!('result' in message)) return message;
  const { content, structuredContent } = message.result;
  for (const [list, toReadable] of Object.entries(readableEntries)) {
    const entries = message.result[list];
    if (!Array.isArray(entries)) continue;
    if (hasMoreValues(entries, maxListValues)) return toTooLong(message, list);
    return { ...message, result: { ...message.result, [list]: entries.flatMap(toReadable) } };
  }
  if (!Array.isArray(content)) return message;
  // Beside a structured result, which says the same, nothing has to stand for a part.
  const instead = structuredContent === undefined ? [{ type: 'text', text: unknownPart }] : [];
  const parts = content.flatMap((part) => (isJsonObject(part) && !kindsOfPart.has(part.type) ? instead : [part]));
  return { ...message, result: { ...message.result, content: parts } };
}

function hasMoreValues(value: unknown, max: number): boolean {
  let count = 0;
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    count += 1;
    if (count > max) return true;
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) pending.push(inner);
  }
  return false;
}

function toTooLong({ jsonrpc, id }: Extract<Message, { result: unknown }>, list: string): Message {
  return { jsonrpc, id, error: { code: tooLongCode, message: `The page of ${list} has more than ${maxListValues} values.` } };
}

/** By the list that they are in: gives of an entry what is told of it, or nothing if it cannot be asked for. */
const readableEntries: Readonly<Record<string, (listed: unknown) => JsonObject | readonly JsonObject[]>> = {
  tools: toReadableTool,
  resources: (listed) => toReadableEntry(listed, 'uri'),
  resourceTemplates: (listed) => toReadableEntry(listed, 'uriTemplate'),
  prompts(listed) {
    const given = isJsonObject(listed) && Array.isArray(listed.arguments) ? listed.arguments.filter(isJsonObject) : [];
    const args = given.map(({ name, required }) => ({ name: String(name), required: required === true }));
    return toReadableEntry(listed, 'name').map((prompt) => ({ ...prompt, arguments: args }));
  },
};

function toReadableEntry(listed: unknown, key: string): JsonObject[] {
  if (!isJsonObject(listed) || typeof listed[key] !== 'string') return [];
  const { [key]: asked, name, title, description, mimeType, size } = listed;
  const texts = Object.entries({ title, description, mimeType }).filter(([, value]) => typeof value === 'string');
  return [
    {
      [key]: asked,
      name: typeof name === 'string' ? name : asked,
      ...Object.fromEntries(texts),
      ...(Number.isSafeInteger(size) && { size }),
    },
  ];
}

/** Of a tool what a model is told of it. */
function toReadableTool(listed: unknown): JsonObject {
  const { name, title, description, inputSchema, annotations } = isJsonObject(listed) ? listed : {};
  const schema = toObjectSchema(inputSchema ?? {});
  if (typeof name !== 'string' || schema === undefined) {
    const shown = typeof name === 'string' ? name : 'one without a name';
    return { name: shown, inputSchema: { type: 'object' }, _meta: { [leftOut]: true } };
  }
  return {
    name,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    inputSchema: schema,
    ...(isJsonObject(annotations) && { annotations: toHints(annotations) }),
  };
}

/** What the SDK reads of them. */
function toHints({ title, ...hints }: JsonObject): JsonObject {
  const told = Object.entries(hints).filter(([, value]) => typeof value === 'boolean');
  return { ...(typeof title === 'string' && { title }), ...Object.fromEntries(told) };
}

/** The schema if it is one of an object; null counts as absent. */
function toObjectSchema(written: unknown): JsonObject | undefined {
  if (!isJsonObject(written)) return undefined;
  const schema = repairSchema(Object.fromEntries(Object.entries(written).filter(([, value]) => value !== null)));
  const { properties = {}, required = [] } = schema;
  const type = toRootType(schema.type);
  const areNames = Array.isArray(required) && required.every((name) => typeof name === 'string');
  return type === 'object' && isJsonObject(properties) && areNames ? { ...schema, type } : undefined;
}

/** Arguments of a tool are never null, so a type list that has `object` means an object. */
function toRootType(type: unknown): unknown {
  return type === undefined || (Array.isArray(type) && type.includes('object')) ? 'object' : type;
}
