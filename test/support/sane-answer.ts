import { isJsonObject } from '#base/json/json.ts';

/** Throws unless a body is an error in the format of one of the dialects (docs/wire.md, Errors). */
export function requireErrorShape(text: string): void {
  const { error, type } = JSON.parse(text) as { type?: unknown; error?: Record<string, unknown> };
  const isMessages = type === 'error';
  const strings = isMessages ? ['type', 'message'] : ['type', 'message', 'code'];
  const isWhole = error !== undefined && strings.every((name) => typeof error[name] === 'string' && error[name] !== '');
  const hasParam = isMessages || error?.param === null || typeof error?.param === 'string';
  if (!isWhole || !hasParam) throw new Error(`not the shape of an error: ${text}`);
}

/** The end of a stream. */
export interface StreamEnd {
  readonly isError: boolean;
  /** Complete text of the reply. */
  readonly content: string;
}

/**
 * Reads a complete stream of either dialect. Throws unless it has exactly one end. The service may relay upstream events
 * unchanged, so this function makes no assumptions about them.
 */
export function requireStreamEnd(text: string, isMessages: boolean): StreamEnd {
  if (!text.endsWith('\n\n')) throw new Error(`the stream ends inside an event: ${text.slice(-200)}`);
  const events = text.split('\n\n').filter((event) => event !== '' && !event.startsWith(':'));
  return isMessages ? findMessagesEnd(events) : findChatEnd(events);
}

function findChatEnd(events: readonly string[]): StreamEnd {
  const ends = events.filter((event) => event === 'data: [DONE]');
  if (ends.length !== 1 || events.at(-1) !== ends[0])
    throw new Error(`not one end mark at the end: ${events.slice(-3).join(' | ')}`);
  const values = events.slice(0, -1).map(readData);
  const errors = values.filter(({ error, choices }) => error !== undefined && choices === undefined);
  if (errors.length > 1 || (errors.length === 1 && values.at(-1) !== errors[0]))
    throw new Error('an error that is not the last event');
  if (errors[0] !== undefined) requireErrorShape(JSON.stringify(errors[0]));
  const choices = values.flatMap((value) => (Array.isArray(value.choices) ? value.choices : [])) as readonly (Choice | null)[];
  return { isError: errors.length === 1, content: choices.map((choice) => choice?.delta?.content ?? '').join('') };
}

interface Choice {
  readonly delta?: { readonly content?: unknown } | null;
}

function findMessagesEnd(events: readonly string[]): StreamEnd {
  const values = events.map(readData);
  const ends = values.filter(({ type }) => type === 'message_stop' || type === 'error');
  if (ends.length !== 1 || values.at(-1) !== ends[0]) throw new Error(`not one end at the end: ${events.slice(-3).join(' | ')}`);
  const isError = ends[0]?.type === 'error';
  if (isError) requireErrorShape(JSON.stringify(ends[0]));
  const texts = values.map(({ delta }) => (isJsonObject(delta) ? (delta.text ?? '') : ''));
  return { isError, content: texts.join('') };
}

/** Returns the data of an event as an object. The object is empty if the data is not one. */
function readData(event: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '');
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
