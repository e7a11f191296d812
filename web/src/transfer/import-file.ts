import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { type Imported, type Lost, mostTurns, type Said, shownTo, toId, toMs, toTurns } from './imported.ts';
import { ItemSplitter, UnreadableFile } from './item-splitter.ts';
import { readOwn } from './read-own.ts';

/** Steps and thoughts, which versions before its lists of outputs wrote into the text. */
// Pattern bound: a message of the user's own export file, in the user's own browser.
const folded = /<details type="[a-z_]+"[^>]*>[\s\S]*?<\/details>\s*/g;

/** What came of a file. */
export interface ImportReport {
  added: number;
  /** Conversations that were there and got further turns. */
  merged: number;
  /** Those that were there with all that the file has. */
  same: number;
  /** Items of the file that are no conversation, or none that can be read. */
  refused: number;
  /** Whether there were more than are taken of one file. */
  isCut: boolean;
  readonly lost: Lost;
}

interface ImportParts {
  readonly take: (conversation: Conversation) => Promise<'added' | 'merged' | 'same'>;
  /** The deployment that an imported conversation goes on with, by the name of its model. */
  readonly deploymentFor: (model: string) => string;
  readonly onProgress: (share: number, report: ImportReport) => void;
  readonly signal: AbortSignal;
}

/** What the service stores of one conversation at most. */
const mostItemChars = 32 * 1024 ** 2;
const mostFileBytes = 1024 ** 3;
const mostConversations = 50_000;
const bounds = { maxDepth: 2000, maxNodes: 2_000_000 };

/** Takes in every conversation of a file, one after the other. Throws UnreadableFile if it is none of a known form. */
export async function importFile(file: Blob, parts: ImportParts): Promise<ImportReport> {
  if (file.size > mostFileBytes) throw new UnreadableFile('large');
  const report: ImportReport = { added: 0, merged: 0, same: 0, refused: 0, isCut: false, lost: { files: 0, steps: 0 } };
  const splitter = new ItemSplitter(mostItemChars);
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let count = 0;
  let read = 0;
  const takeIn = async (items: readonly string[]): Promise<void> => {
    for (const item of items) {
      if (count >= mostConversations || parts.signal.aborted) return;
      count += 1;
      await takeItem(item, parts, report);
      parts.onProgress(Math.min(read / file.size, 1), report);
    }
  };
  for (let next = await reader.read(); !next.done && !parts.signal.aborted; next = await reader.read()) {
    read += next.value.length;
    await takeIn(splitter.push(next.value));
    if (count >= mostConversations) report.isCut = true;
    if (report.isCut) break;
  }
  if (!report.isCut && !parts.signal.aborted) await takeIn(splitter.end());
  await reader.cancel().catch(() => undefined);
  return report;
}

async function takeItem(item: string, { take, deploymentFor }: ImportParts, report: ImportReport): Promise<void> {
  const imported = readItem(item);
  if (imported === undefined) {
    report.refused += 1;
    return;
  }
  const { conversation, model, lost } = imported;
  report[await take({ ...conversation, deployment: deploymentFor(model) })] += 1;
  report.lost.files += lost.files;
  report.lost.steps += lost.steps;
}

function readItem(item: string): Imported | undefined {
  const value = tryParseJson(item, bounds);
  if (!isJsonObject(value)) return undefined;
  if (value.format === 'parley-conversation') return readOwn(value);
  const nowMs = Date.now();
  return readChatGpt(value, nowMs) ?? readLibreChat(value, nowMs) ?? readOpenWebUi(value, nowMs);
}

/** A conversation of LibreChat's export, flat or as a tree; undefined if it has none of its form. */
function readLibreChat(item: JsonObject, nowMs: number): Imported | undefined {
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

/** A conversation of ChatGPT's export; undefined if it has none of its form. */
function readChatGpt(item: JsonObject, nowMs: number): Imported | undefined {
  const { mapping, title, create_time, update_time, is_archived, current_node } = item;
  if (!isJsonObject(mapping)) return undefined;
  const nodes = Object.entries(mapping);
  if (nodes.length > mostTurns) return undefined;
  const lost: Lost = { files: 0, steps: 0 };
  const said = new Map(nodes.map(([id, node]) => [id, toChatGptSaid(id, isJsonObject(node) ? node : {}, lost)]));
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

function toChatGptSaid(id: string, { message, parent }: JsonObject, lost: Lost): Said {
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

/** A conversation of Open WebUI's export; undefined if it has none of its form. */
function readOpenWebUi(item: JsonObject, nowMs: number): Imported | undefined {
  const chat = isJsonObject(item.chat) ? item.chat : {};
  const history = isJsonObject(chat.history) ? chat.history : {};
  if (!isJsonObject(history.messages)) return undefined;
  const messages = Object.entries(history.messages);
  if (messages.length > mostTurns) return undefined;
  const lost: Lost = { files: 0, steps: 0 };
  const said = new Map(messages.map(([id, message]) => [id, toOpenWebUiSaid(id, isJsonObject(message) ? message : {}, lost)]));
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

function toOpenWebUiSaid(id: string, message: JsonObject, lost: Lost): Said {
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
