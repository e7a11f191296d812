import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Imported, type Lost, mostTurns, type Said, toId, toTurns } from './imported.ts';

/** A conversation of LibreChat's export, flat or as a tree; undefined if it has none of its form. */
export function readLibreChat(item: JsonObject, nowMs: number): Imported | undefined {
  const top = item.messagesTree ?? item.messages;
  if (typeof item.conversationId !== 'string' || !Array.isArray(top)) return undefined;
  const messages = flat(top);
  if (messages.length > mostTurns) return undefined;
  const lost: Lost = { files: 0, steps: 0 };
  const said = new Map<string, Said>();
  for (const message of messages) {
    const each = toSaid(message, lost);
    if (each !== undefined) said.set(each.id, each);
  }
  const times = [...said.values()].flatMap(({ atMs }) => atMs ?? []);
  const createdAtMs = times[0] ?? nowMs;
  const turns = toTurns(said, createdAtMs);
  if (Object.keys(turns).length === 0) return undefined;
  const { model } = isJsonObject(item.options) ? item.options : {};
  const last = [...said.values()].findLast((each) => each.model !== undefined)?.model;
  return {
    ...{ lost, model: typeof model === 'string' ? model : (last ?? '') },
    conversation: {
      ...{ id: toId(item.conversationId), title: typeof item.title === 'string' ? item.title.slice(0, 200) : '' },
      ...{ deployment: '', createdAtMs, updatedAtMs: times.reduce((one, other) => Math.max(one, other), createdAtMs) },
      ...{ turns, shown: {} },
    },
  };
}

function flat(top: readonly unknown[]): readonly JsonObject[] {
  const all = top.filter(isJsonObject);
  for (let at = 0; at < all.length && all.length <= mostTurns; at += 1) {
    const children = all[at]?.children;
    if (Array.isArray(children)) for (const child of children) if (isJsonObject(child)) all.push(child);
  }
  return all;
}

function toSaid(message: JsonObject, lost: Lost): Said | undefined {
  const { messageId, parentMessageId, isCreatedByUser, model, createdAt, content, text } = message;
  if (typeof messageId !== 'string') return undefined;
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  lost.steps += parts.filter(({ type }) => type !== 'text').length;
  for (const list of [message.files, message.attachments]) if (Array.isArray(list)) lost.files += list.length;
  const written = parts.map(textOf).filter(Boolean).join('\n\n');
  const atMs = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
  return {
    ...{ id: messageId, parent: typeof parentMessageId === 'string' ? parentMessageId : '' },
    kind: isCreatedByUser === true ? 'question' : 'reply',
    text: typeof text === 'string' && text !== '' ? text : written,
    atMs: Number.isFinite(atMs) && atMs >= 0 ? atMs : undefined,
    ...(typeof model === 'string' && { model }),
  };
}

function textOf({ type, text }: JsonObject): string {
  if (type !== 'text') return '';
  if (typeof text === 'string') return text;
  return isJsonObject(text) && typeof text.value === 'string' ? text.value : '';
}
