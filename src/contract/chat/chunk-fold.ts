import { isJsonObject, isWrittenNumber, type JsonObject } from '#base/json/json.ts';
import type { Chunk, ChunkChoice, Completion, CompletionChoice } from './chunk.ts';

type Fields = Map<string, unknown>;
type Message = CompletionChoice['message'];

/** A list whose items are identified by `index`. Items without an index follow at the end, in the order of arrival. */
class IndexedItems {
  readonly byIndex = new Map<number, Fields>();
  readonly unindexed: unknown[] = [];
}

const maxIndex = 100_000;
const maxItems = 1_000_000;
/** Fields of a choice whose later value replaces the earlier value completely. */
const replacedFields: ReadonlySet<string> = new Set([
  ...['role', 'id', 'object', 'model', 'type', 'reference_type', 'status', 'finish_reason', 'system_fingerprint'],
  ...['usage', 'statistics', 'state', 'schema'],
]);
/** Fields that keep their first value that is not empty. */
const identityFields: ReadonlySet<string> = new Set(['id', 'created', 'model']);

/**
 * Folds the chunks of a reply into the complete reply (docs/wire.md, JSON answers). In a delta, strings are concatenated, list
 * items are merged by `index` or appended, and other values are replaced. Nulls are ignored, except as the first `status` of a
 * stage. Strings of a choice outside its delta are replaced. So are fields outside the choices, except `id`, `created`, and
 * `model`, which keep their first value that is not empty. Does not modify chunks. Throws the error of `createError` if an index is not an integer from 0 to 100,000, or if there are more than a million
 * items. The page uses this class too.
 */
export class ChunkFold {
  readonly #fields: Fields = new Map();
  readonly #choices = new IndexedItems();
  readonly #createError: (message: string) => Error;
  #itemsLeft = maxItems;

  constructor(createError: (message: string) => Error) {
    this.#createError = createError;
  }

  add(chunk: Chunk): void {
    const { choices, object: _object, ...fields } = chunk;
    for (const [key, value] of Object.entries(fields)) {
      const isSettled = identityFields.has(key) && Boolean(this.#fields.get(key));
      if (key !== '__proto__' && value !== null && !isSettled) this.#fields.set(key, value);
    }
    for (const choice of choices) if (isJsonObject(choice)) this.#addChoice(choice);
  }

  /** Returns the reply up to the current chunk. */
  getCompletion(): Completion {
    const { id = '', created = 0, ...fields } = toPlain(this.#fields) as Partial<Completion>;
    const choices = toPlain(this.#choices) as Partial<CompletionChoice>[];
    return { id, object: 'chat.completion', created, ...fields, choices: choices.map(toChoice) };
  }

  #addChoice({ index = 0, delta, message: _message, ...choice }: Partial<ChunkChoice>): void {
    const fields = this.#getItem(this.#choices, index);
    this.#fold(fields, choice, false);
    if (isJsonObject(delta)) fields.set('message', this.#foldValue(fields.get('message'), delta, true));
  }

  #fold(into: Fields, source: object, concatenates: boolean): void {
    for (const [key, value] of Object.entries(source)) {
      const old = into.get(key);
      if (key === '__proto__' || value === undefined || (value === '' && old !== undefined)) continue;
      if (value === null) {
        if (key === 'status' && old === undefined) into.set(key, null);
      } else {
        into.set(key, replacedFields.has(key) ? value : this.#foldValue(old, value, concatenates));
      }
    }
  }

  #foldValue(old: unknown, value: unknown, concatenates: boolean): unknown {
    if (typeof value === 'string') return concatenates && typeof old === 'string' ? old + value : value;
    if (typeof value !== 'object' || value === null || isWrittenNumber(value)) return value ?? old;
    if (Array.isArray(value)) {
      const items = old instanceof IndexedItems ? old : new IndexedItems();
      for (const item of value) this.#addItem(items, item, concatenates);
      return items;
    }
    const fields: Fields = old instanceof Map ? old : new Map();
    this.#fold(fields, value, concatenates);
    return fields;
  }

  #addItem(items: IndexedItems, item: unknown, concatenates: boolean): void {
    const index = typeof item === 'object' && item !== null ? (item as { index?: unknown }).index : undefined;
    if (typeof index === 'number') {
      this.#fold(this.#getItem(items, index), item as object, concatenates);
    } else {
      this.#countItem();
      items.unindexed.push(this.#foldValue(undefined, item, concatenates));
    }
  }

  #getItem(items: IndexedItems, index: number): Fields {
    const existing = items.byIndex.get(index);
    if (existing !== undefined) return existing;
    if (!Number.isInteger(index) || index < 0 || index > maxIndex) {
      const indexText = typeof index === 'number' ? index : typeof index;
      throw this.#createError(`The answer has an item with the index ${indexText}.`);
    }
    this.#countItem();
    const fields: Fields = new Map([['index', index]]);
    items.byIndex.set(index, fields);
    return fields;
  }

  #countItem(): void {
    this.#itemsLeft -= 1;
    if (this.#itemsLeft < 0) throw this.#createError(`The answer has more than ${maxItems} items.`);
  }
}

function toPlain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(Array.from(value, ([key, field]) => [key, toPlain(field)]));
  if (!(value instanceof IndexedItems)) return value;
  const indexed = [...value.byIndex].sort(([first], [second]) => first - second);
  return [...indexed.map(([, fields]) => toPlain(fields)), ...value.unindexed.map(toPlain)];
}

function toChoice({ index = 0, message, finish_reason = null, ...fields }: Partial<CompletionChoice>): CompletionChoice {
  return { index, message: toMessage(message), finish_reason, ...fields };
}

/**
 * `content` is '' if there is no text. It is null if there are tool calls, and absent if there is a function call (docs/wire.md,
 * JSON answers). Tool calls of a complete message have no index.
 */
function toMessage({ role: _role, content, ...fields }: Partial<Message> = {}): Message {
  if (content) return { role: 'assistant', content, ...toCompleteChoice(fields) };
  if (Array.isArray(fields.tool_calls) && fields.tool_calls.length > 0)
    return { role: 'assistant', content: null, ...toCompleteChoice(fields) };
  return fields.function_call === undefined ? { role: 'assistant', content: '', ...fields } : { role: 'assistant', ...fields };
}

function toCompleteChoice(fields: JsonObject): JsonObject {
  if (!Array.isArray(fields.tool_calls)) return fields;
  return { ...fields, tool_calls: fields.tool_calls.filter(isJsonObject).map(({ index: _index, ...call }) => call) };
}
