import type { Client, Tool as ListedTool } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { repairSchema } from '#domain/tools/repair-schema.ts';
import { tooLongCode } from './server-error.ts';

type Transport = Parameters<Client['connect']>[0];
type Listener = NonNullable<Transport['onmessage']>;
type Message = Parameters<Listener>[0];

/** In `_meta` of a tool that no model can be offered. */
const omittedKey = 'parley/left-out';
const partTypes: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** The largest page of a list that is read, in values of its JSON. To repair and to check a value takes about 1 µs. */
const maxListValues = 100_000;

/** What the model is told in place of a part of a kind that is not known. */
export const unknownPartText = '[A part of a kind that is not known was left out.]';

/** Whether a listed tool is described in a form that nobody can call it by. */
export function isOmitted({ _meta }: ListedTool): boolean {
  return _meta?.[omittedKey] === true;
}

/** Lets a server answer loosely: the SDK would refuse a whole list for one odd tool, and a whole result for one unknown part. */
export function readingLoosely(transport: Transport): Transport {
  let listener: Listener | undefined;
  return Object.defineProperty(transport, 'onmessage', {
    get: () => listener,
    set(newListener: Listener | undefined) {
      listener = newListener && ((message, extra) => newListener(normalizeMessage(message), extra));
    },
  });
}

function normalizeMessage(message: Message): Message {
  if (!('result' in message)) return message;
  const { content, structuredContent } = message.result;
  for (const [list, normalize] of Object.entries(entryNormalizers)) {
    const entries = message.result[list];
    if (!Array.isArray(entries)) continue;
    if (hasMoreValues(entries, maxListValues)) return createTooLongError(message, list);
    return { ...message, result: { ...message.result, [list]: entries.flatMap(normalize) } };
  }
  if (!Array.isArray(content)) return message;
  // Beside a structured result, which says the same, nothing has to stand for a part.
  const replacement = structuredContent === undefined ? [{ type: 'text', text: unknownPartText }] : [];
  const parts = content.flatMap((part) => (isJsonObject(part) && !partTypes.has(part.type) ? replacement : [part]));
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

function createTooLongError({ jsonrpc, id }: Extract<Message, { result: unknown }>, list: string): Message {
  return { jsonrpc, id, error: { code: tooLongCode, message: `The page of ${list} has more than ${maxListValues} values.` } };
}

/** By the list that they are in: gives of an entry what is told of it, or nothing if it cannot be asked for. */
const entryNormalizers: Readonly<Record<string, (listed: unknown) => JsonObject | readonly JsonObject[]>> = {
  tools: normalizeTool,
  resources: (listed) => normalizeEntry(listed, 'uri'),
  resourceTemplates: (listed) => normalizeEntry(listed, 'uriTemplate'),
  prompts(listed) {
    const argumentList = isJsonObject(listed) && Array.isArray(listed.arguments) ? listed.arguments.filter(isJsonObject) : [];
    const args = argumentList.map(({ name, required }) => ({ name: String(name), required: required === true }));
    return normalizeEntry(listed, 'name').map((prompt) => ({ ...prompt, arguments: args }));
  },
};

function normalizeEntry(listed: unknown, key: string): JsonObject[] {
  if (!isJsonObject(listed) || typeof listed[key] !== 'string') return [];
  const { [key]: identifier, name, title, description, mimeType, size } = listed;
  const texts = Object.entries({ title, description, mimeType }).filter(([, value]) => typeof value === 'string');
  return [
    {
      [key]: identifier,
      name: typeof name === 'string' ? name : identifier,
      ...Object.fromEntries(texts),
      ...(Number.isSafeInteger(size) && { size }),
    },
  ];
}

/** Of a tool what a model is told of it. */
function normalizeTool(listed: unknown): JsonObject {
  const { name, title, description, inputSchema, annotations } = isJsonObject(listed) ? listed : {};
  const schema = toObjectSchema(inputSchema ?? {});
  if (typeof name !== 'string' || schema === undefined) {
    const displayName = typeof name === 'string' ? name : 'one without a name';
    return { name: displayName, inputSchema: { type: 'object' }, _meta: { [omittedKey]: true } };
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
  const entries = Object.entries(hints).filter(([, value]) => typeof value === 'boolean');
  return { ...(typeof title === 'string' && { title }), ...Object.fromEntries(entries) };
}

/** The schema if it is one of an object; null counts as absent. */
function toObjectSchema(input: unknown): JsonObject | undefined {
  if (!isJsonObject(input)) return undefined;
  const schema = repairSchema(Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)));
  const { properties = {}, required = [] } = schema;
  const type = toRootType(schema.type);
  const areNames = Array.isArray(required) && required.every((name) => typeof name === 'string');
  return type === 'object' && isJsonObject(properties) && areNames ? { ...schema, type } : undefined;
}

/** Arguments of a tool are never null, so a type list that has `object` means an object. */
function toRootType(type: unknown): unknown {
  return type === undefined || (Array.isArray(type) && type.includes('object')) ? 'object' : type;
}
