import { filterObjects, isJsonObject, type JsonObject, toText } from '#base/json/json.ts';
import type { Chunk, ChunkChoice, Completion, CompletionChoice, Delta, RawChunk, RawCompletion } from './chunk.ts';

/** Fields that all events of a reply share. */
export interface ReplyIdentity {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model?: string;
}

type RawIdentity = { readonly id: unknown; readonly created: unknown; readonly model?: unknown };

/** Returns the identity of a chunk or complete reply. Missing fields come from `knownIdentity`. */
export function getIdentity({ id, created, model }: Partial<RawIdentity>, knownIdentity: ReplyIdentity): ReplyIdentity {
  if (id === knownIdentity.id && created === knownIdentity.created && model === knownIdentity.model) return knownIdentity;
  return {
    id: typeof id === 'string' && id !== '' ? id : knownIdentity.id,
    // The first event of Azure has a zero.
    created: typeof created === 'number' && created > 0 ? created : knownIdentity.created,
    ...(typeof model === 'string' && model !== ''
      ? { model }
      : knownIdentity.model !== undefined && { model: knownIdentity.model }),
  };
}

/** Returns a chunk with all required fields (docs/wire.md, Streams). Returns the same object if no field is missing. */
export function toWellFormedChunk(chunk: RawChunk, identity: ReplyIdentity): Chunk {
  if (isWellFormedChunk(chunk)) return chunk as unknown as Chunk;
  return {
    ...chunk,
    ...getIdentity(chunk, identity),
    object: 'chat.completion.chunk',
    choices: chunk.choices.map((choice, position) => {
      const delta = isJsonObject(choice.delta) ? normalizeContent(choice.delta) : {};
      return {
        ...choice,
        index: toIndex(choice, position),
        delta: (isAssistantRole(delta.role) ? delta : { ...delta, role: 'assistant' }) as Delta,
        finish_reason: toReason(choice) as ChunkChoice['finish_reason'],
      };
    }),
  } as Chunk;
}

/**
 * Returns a complete reply with all required fields (docs/wire.md, JSON answers). Returns the same object if no field is missing.
 */
export function toWellFormedCompletion(completion: RawCompletion, identity: ReplyIdentity): Completion {
  if (hasIdentity(completion) && completion.object === 'chat.completion' && completion.choices.every(isCompleteChoice))
    return completion as unknown as Completion;
  return {
    ...completion,
    ...getIdentity(completion, identity),
    object: 'chat.completion',
    choices: completion.choices.map((choice, position) => ({
      ...choice,
      index: toIndex(choice, position),
      message: toCompleteMessage(choice.message),
      finish_reason: (toReason(choice) ?? 'stop') as CompletionChoice['finish_reason'],
    })),
  } as Completion;
}

function toReason({ finish_reason: reason }: JsonObject): string | null {
  return typeof reason === 'string' ? reason : null;
}

function toIndex({ index }: JsonObject, position: number): number {
  return Number.isInteger(index) ? (index as number) : position;
}

function hasIdentity({ id, created, model }: Partial<RawIdentity>): boolean {
  const areTexts = typeof id === 'string' && typeof model === 'string' && id !== '' && model !== '';
  return areTexts && typeof created === 'number' && created > 0;
}

function isWellFormedChunk(chunk: RawChunk): boolean {
  if (chunk.object !== 'chat.completion.chunk' || !hasIdentity(chunk)) return false;
  for (const { index, delta, finish_reason: reason } of chunk.choices) {
    if (!Number.isInteger(index) || !isJsonObject(delta) || (reason !== null && typeof reason !== 'string')) return false;
    const { role, content } = delta;
    if (role !== undefined && role !== 'assistant' && role !== null) return false;
    if (typeof content !== 'string' && content !== undefined && content !== null) return false;
  }
  return true;
}

function isCompleteChoice({ index, message, finish_reason: reason }: JsonObject): boolean {
  if (!isJsonObject(message) || message.role !== 'assistant') return false;
  return Number.isInteger(index) && hasContent(message) && typeof reason === 'string';
}

/** A reply without text gets an empty text, unless it has calls. */
function toCompleteMessage(message: unknown): CompletionChoice['message'] {
  const completeMessage: JsonObject = { ...(isJsonObject(message) && normalizeContent(message)), role: 'assistant' };
  return (hasContent(completeMessage) ? completeMessage : { ...completeMessage, content: '' }) as CompletionChoice['message'];
}

function hasContent({ content, tool_calls, function_call }: JsonObject): boolean {
  return typeof content === 'string' || (isTextOrNone(content) && (tool_calls ?? function_call ?? null) !== null);
}

/** Some upstreams send content as parts. Joins the parts to a string, and moves thoughts to `reasoning_content`. */
function normalizeContent<Source extends { content?: unknown }>(source: Source): Source & { content?: string | null } {
  const { content } = source;
  if (isTextOrNone(content)) return source as Source & { content?: string | null };
  const parts = filterObjects(content);
  const thoughts = parts.flatMap(({ thinking }) => filterObjects(thinking));
  return {
    ...source,
    content: joinTexts(parts),
    ...(thoughts.length > 0 && { reasoning_content: joinTexts(thoughts) }),
  };
}

function joinTexts(parts: readonly JsonObject[]): string {
  return parts.map(({ text }) => toText(text)).join('');
}

function isTextOrNone(content: unknown): content is string | null | undefined {
  return typeof content === 'string' || content === null || content === undefined;
}

function isAssistantRole(role: unknown): boolean {
  return role === undefined || role === null || role === 'assistant';
}
