import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { type Imported, type Lost, mostTurns, type Said, shownTo, toId, toMs, toTurns } from './imported.ts';

/** A conversation of ChatGPT's export; undefined if it has none of its form. */
export function readChatGpt(item: JsonObject, nowMs: number): Imported | undefined {
  const { mapping, title, create_time, update_time, is_archived, current_node } = item;
  if (!isJsonObject(mapping)) return undefined;
  const nodes = Object.entries(mapping);
  if (nodes.length > mostTurns) return undefined;
  const lost: Lost = { files: 0, steps: 0 };
  const said = new Map(nodes.map(([id, node]) => [id, toSaid(id, isJsonObject(node) ? node : {}, lost)]));
  const createdAtMs = toMs(create_time) ?? nowMs;
  const turns = toTurns(said, createdAtMs);
  if (Object.keys(turns).length === 0) return undefined;
  const model = [...said.values()].findLast((each) => each.model !== undefined)?.model ?? '';
  return {
    ...{ lost, model },
    conversation: {
      ...{ id: toId(item.conversation_id ?? item.id), title: typeof title === 'string' ? title.slice(0, 200) : '' },
      ...(is_archived === true && { archived: true }),
      ...{ deployment: '', createdAtMs, updatedAtMs: toMs(update_time) ?? createdAtMs, turns },
      shown: shownTo(typeof current_node === 'string' ? current_node : '', said, turns),
    },
  };
}

function toSaid(id: string, { message, parent }: JsonObject, lost: Lost): Said {
  const none: Said = { id, parent: typeof parent === 'string' ? parent : '', text: '', atMs: undefined };
  if (!isJsonObject(message)) return none;
  const { author, content, metadata, recipient, create_time } = message;
  const role = isJsonObject(author) ? author.role : undefined;
  const more = isJsonObject(metadata) ? metadata : {};
  if (more.is_visually_hidden_from_conversation === true || role === 'system' || !isJsonObject(content)) return none;
  const type = content.content_type;
  const isSpoken = type === 'text' || type === 'multimodal_text';
  if (role === 'tool' || !isSpoken || (role === 'assistant' && (recipient ?? 'all') !== 'all')) {
    lost.steps += 1;
    return none;
  }
  const parts = Array.isArray(content.parts) ? content.parts : [];
  const attached = Array.isArray(more.attachments) ? more.attachments.length : 0;
  lost.files += Math.max(attached, parts.filter(isJsonObject).length);
  const text = parts.filter((part) => typeof part === 'string').join('\n');
  if (text.trim() === '' && role !== 'user') return none;
  return {
    ...{ ...none, text, atMs: toMs(create_time), kind: role === 'user' ? 'question' : 'reply' },
    ...(typeof more.model_slug === 'string' && { model: more.model_slug }),
  };
}
