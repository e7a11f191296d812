import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { type Imported, type Lost, mostTurns, type Said, shownTo, toId, toMs, toTurns } from './imported.ts';

/** Steps and thoughts, which versions before its lists of outputs wrote into the text. */
// Pattern bound: a message of the user's own export file, in the user's own browser.
const folded = /<details type="[a-z_]+"[^>]*>[\s\S]*?<\/details>\s*/g;

/** A conversation of Open WebUI's export; undefined if it has none of its form. */
export function readOpenWebUi(item: JsonObject, nowMs: number): Imported | undefined {
  const chat = isJsonObject(item.chat) ? item.chat : {};
  const history = isJsonObject(chat.history) ? chat.history : {};
  if (!isJsonObject(history.messages)) return undefined;
  const messages = Object.entries(history.messages);
  if (messages.length > mostTurns) return undefined;
  const lost: Lost = { files: 0, steps: 0 };
  const said = new Map(messages.map(([id, message]) => [id, toSaid(id, isJsonObject(message) ? message : {}, lost)]));
  const createdAtMs = toMs(item.created_at) ?? nowMs;
  const turns = toTurns(said, createdAtMs);
  if (Object.keys(turns).length === 0) return undefined;
  const title = typeof item.title === 'string' ? item.title : chat.title;
  const last = [...said.values()].findLast(({ model }) => model !== undefined);
  const shown = typeof history.currentId === 'string' ? history.currentId : '';
  return {
    ...{ lost, model: last?.model ?? '' },
    conversation: {
      ...{ id: toId(item.id ?? chat.id), title: typeof title === 'string' ? title.slice(0, 200) : '' },
      ...(item.archived === true && { archived: true }),
      ...(item.pinned === true && { pinned: true }),
      ...{ deployment: '', createdAtMs, updatedAtMs: toMs(item.updated_at) ?? createdAtMs, turns },
      shown: shownTo(shown, said, turns),
    },
  };
}

function toSaid(id: string, message: JsonObject, lost: Lost): Said {
  const { role, content, parentId, files, output, model, timestamp } = message;
  const none: Said = { id, parent: typeof parentId === 'string' ? parentId : '', text: '', atMs: undefined };
  if (role !== 'user' && role !== 'assistant') return none;
  if (Array.isArray(files)) lost.files += files.length;
  if (Array.isArray(output)) lost.steps += output.filter((each) => isJsonObject(each) && each.type !== 'message').length;
  const written = typeof content === 'string' ? content : '';
  if (role === 'user') return { ...none, kind: 'question', text: written, atMs: toMs(timestamp) };
  if (!Array.isArray(output)) lost.steps += written.match(folded)?.length ?? 0;
  const text = written.replace(folded, '');
  if (text.trim() === '') return none;
  return { ...none, kind: 'reply', text, atMs: toMs(timestamp), ...(typeof model === 'string' && { model }) };
}
