import type { Client, Tool as ListedTool } from '@modelcontextprotocol/client';
import { filterObjects, isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { repairSchema } from '#domain/tools/repair-schema.ts';
import { tooLargeCode, tooLongCode } from './server-error.ts';

type Transport = Parameters<Client['connect']>[0];
type Listener = NonNullable<Transport['onmessage']>;
export type Message = Parameters<Listener>[0];

/** Key in `_meta` of a tool that cannot be offered to a model. */
const omittedKey = 'parley/left-out';
const partTypes: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** Maximum number of JSON values in one page of a list. Repairing and checking a value takes about 1 µs. */
const maxListValues = 100_000;
/** Maximum number of characters of all pages of a list together. */
const maxListChars = 16 * 1024 ** 2;

/** Replacement for a content part of an unknown type, in the model's result. */
export const unknownPartText = '[A part of a kind that is not known was left out.]';

/** Returns whether the description of a listed tool is too malformed to call it. */
export function isOmitted({ _meta }: ListedTool): boolean {
  return _meta?.[omittedKey] === true;
}

interface ReplyOptions {
  readonly mask: (text: string) => string;
  readonly accepts: (message: Message) => boolean;
}

/**
 * Makes the transport repair malformed replies, and drop messages that `accepts` rejects. The SDK would reject a complete list for
 * one malformed tool, and a complete result for one unknown part. `mask` removes credentials from the messages of errors, which
 * users see.
 */
export function normalizeReplies(transport: Transport, { mask, accepts }: ReplyOptions): void {
  let listener: Listener | undefined;
  const sizes: ListSizes = new Map();
  Object.defineProperty(transport, 'onmessage', {
    get: () => listener,
    set(newListener: Listener | undefined) {
      listener =
        newListener &&
        ((message, extra) => {
          if (accepts(message)) newListener(maskError(normalizeMessage(message, sizes), mask), extra);
        });
    },
  });
}

/** Number of characters of the pages that have arrived, by list. A list without an entry has no pages yet. */
type ListSizes = Map<string, number>;

function maskError(message: Message, mask: (text: string) => string): Message {
  return 'error' in message ? { ...message, error: { ...message.error, message: mask(message.error.message) } } : message;
}

function normalizeMessage(message: Message, sizes: ListSizes): Message {
  if (!('result' in message)) return message;
  const { content, structuredContent } = message.result;
  for (const [list, normalize] of Object.entries(entryNormalizers)) {
    const entries = message.result[list];
    if (!Array.isArray(entries)) continue;
    const pageSize = measure(entries, maxListValues);
    if (pageSize === undefined)
      return createListError(message, tooLongCode, `The page of ${list} has more than ${maxListValues} values.`);
    const size = (sizes.get(list) ?? 0) + pageSize;
    if (size <= maxListChars && message.result.nextCursor !== undefined) sizes.set(list, size);
    else sizes.delete(list);
    if (size > maxListChars)
      return createListError(message, tooLargeCode, `The pages of ${list} have more than ${maxListChars} characters.`);
    return { ...message, result: { ...message.result, [list]: entries.flatMap(normalize) } };
  }
  if (!Array.isArray(content)) return message;
  // A structured result contains the same information, so a replacement is not necessary.
  const replacement = structuredContent === undefined ? [{ type: 'text', text: unknownPartText }] : [];
  const parts = content.flatMap((part) => (isJsonObject(part) && !partTypes.has(part.type) ? replacement : [part]));
  return { ...message, result: { ...message.result, content: parts } };
}

/** Returns the number of characters of all keys and texts in a value, or undefined if it has more than `maxValues` values. */
function measure(value: unknown, maxValues: number): number | undefined {
  let count = 0;
  let chars = 0;
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    count += 1;
    if (count > maxValues) return undefined;
    if (typeof next === 'string') chars += next.length;
    else if (Array.isArray(next)) for (const item of next) pending.push(item);
    else if (isJsonObject(next))
      for (const [key, inner] of Object.entries(next)) {
        chars += key.length;
        pending.push(inner);
      }
  }
  return chars;
}

function createListError({ jsonrpc, id }: Extract<Message, { result: unknown }>, code: number, message: string): Message {
  return { jsonrpc, id, error: { code, message } };
}

/** Functions by name of the list. Each returns the supported fields of an entry, or an empty list if the entry is unusable. */
const entryNormalizers: Readonly<Record<string, (listed: unknown) => JsonObject | readonly JsonObject[]>> = {
  tools: normalizeTool,
  resources: (listed) => normalizeEntry(listed, 'uri'),
  resourceTemplates: (listed) => normalizeEntry(listed, 'uriTemplate'),
  prompts(listed) {
    const args = filterObjects(toObject(listed).arguments).map(({ name, required }) => ({
      name: String(name),
      required: required === true,
    }));
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

/** Keeps the fields of a tool that the model needs. */
function normalizeTool(listed: unknown): JsonObject {
  const { name, title, description, inputSchema, annotations } = toObject(listed);
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

/** Keeps the hints that the SDK accepts. */
function toHints({ title, ...hints }: JsonObject): JsonObject {
  const entries = Object.entries(hints).filter(([, value]) => typeof value === 'boolean');
  return { ...(typeof title === 'string' && { title }), ...Object.fromEntries(entries) };
}

/** Returns the schema if it describes an object. Null values count as absent. */
function toObjectSchema(input: unknown): JsonObject | undefined {
  if (!isJsonObject(input)) return undefined;
  const schema = repairSchema(Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)));
  const { properties = {}, required = [] } = schema;
  // Tool arguments are never null, so a type list with `object` means an object.
  const isObject = schema.type === undefined || [schema.type].flat().includes('object');
  const hasNames = Array.isArray(required) && required.every((name) => typeof name === 'string');
  return isObject && isJsonObject(properties) && hasNames ? { ...schema, type: 'object' } : undefined;
}
