import { filterObjects, isJsonObject, type JsonObject, toObject, toText, tryParseJson } from '#base/json/json.ts';
import type { Conversation } from '../conversation/conversation.ts';
import {
  type DroppedContent,
  type ImportedConversation,
  type ImportedMessage,
  maxTurns,
  toImportedConversation,
  toMs,
} from './imported-conversation.ts';
import { ItemSplitter, UnreadableFileError } from './item-splitter.ts';
import { readParleyExport } from './read-parley-export.ts';

/** Steps and thoughts in the text of a message, from old versions of Open WebUI without output lists. */
// Pattern bound: runs in the user's own tab, on one message of an export file.
const foldedDetails = /<details type="[a-z_]+"[^>]*>[\s\S]*?<\/details>\s*/g;

/** Result of an import. */
export interface ImportReport {
  added: number;
  /** Existing chats that got more turns. */
  merged: number;
  /** Existing chats that already contained everything. */
  same: number;
  /** Items that are not readable chats. */
  rejected: number;
  /** Whether the file contained more chats than one import accepts. */
  isTruncated: boolean;
  readonly dropped: DroppedContent;
}

interface ImportOptions {
  readonly store: (conversation: Conversation) => Promise<'added' | 'merged' | 'same'>;
  /** Returns the deployment for an imported chat by the name of its model. */
  readonly getDeployment: (model: string) => string;
  /** Called with the imported fraction of the file. */
  readonly onProgress: (fraction: number, report: ImportReport) => void;
  readonly signal: AbortSignal;
}

/** Maximum size of a chat at the service. */
const maxItemChars = 32 * 1024 ** 2;
const maxFileBytes = 1024 ** 3;
const maxConversations = 50_000;
const parseLimits = { maxDepth: 2000, maxNodes: 2_000_000 };

/**
 * Imports the chats of a file, one after the other, up to `maxConversations`. Throws `UnreadableFileError` if the format is
 * unknown or the file is too large.
 */
export async function importFile(file: Blob, options: ImportOptions): Promise<ImportReport> {
  if (file.size > maxFileBytes) throw new UnreadableFileError('large');
  const report: ImportReport = { added: 0, merged: 0, same: 0, rejected: 0, isTruncated: false, dropped: { files: 0, steps: 0 } };
  const splitter = new ItemSplitter(maxItemChars);
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let count = 0;
  let readChars = 0;
  const importItems = async (items: readonly string[]): Promise<void> => {
    for (const item of items) {
      report.isTruncated = count === maxConversations;
      if (report.isTruncated || options.signal.aborted) return;
      count += 1;
      await importItem(item, options, report);
      options.onProgress(Math.min(readChars / file.size, 1), report);
    }
  };
  for (let next = await reader.read(); !next.done && !options.signal.aborted; next = await reader.read()) {
    readChars += next.value.length;
    await importItems(splitter.push(next.value));
    if (report.isTruncated) break;
  }
  if (!report.isTruncated && !options.signal.aborted) await importItems(splitter.end());
  await reader.cancel().catch(() => undefined);
  return report;
}

async function importItem(item: string, { store, getDeployment }: ImportOptions, report: ImportReport): Promise<void> {
  const imported = parseItem(item);
  if (imported === undefined) {
    report.rejected += 1;
    return;
  }
  const { conversation, model, dropped } = imported;
  report[await store({ ...conversation, deployment: getDeployment(model) })] += 1;
  report.dropped.files += dropped.files;
  report.dropped.steps += dropped.steps;
}

function parseItem(item: string): ImportedConversation | undefined {
  const value = tryParseJson(item, parseLimits);
  if (!isJsonObject(value)) return undefined;
  if (value.format === 'parley-conversation') return readParleyExport(value);
  const nowMs = Date.now();
  return readChatGpt(value, nowMs) ?? readLibreChat(value, nowMs) ?? readOpenWebUi(value, nowMs);
}

/** Reads a chat of a LibreChat export, flat or as a tree. Returns undefined for other formats. */
function readLibreChat(item: JsonObject, nowMs: number): ImportedConversation | undefined {
  const roots = item.messagesTree ?? item.messages;
  if (typeof item.conversationId !== 'string' || !Array.isArray(roots)) return undefined;
  const messages = flattenTree(roots);
  if (messages.length > maxTurns) return undefined;
  const dropped: DroppedContent = { files: 0, steps: 0 };
  const messagesById = new Map<string, ImportedMessage>();
  for (const message of messages) {
    const converted = toLibreChatMessage(message, dropped);
    if (converted !== undefined) messagesById.set(converted.id, converted);
  }
  const times = [...messagesById.values()].flatMap(({ atMs }) => atMs ?? []);
  const createdAtMs = times[0] ?? nowMs;
  const { model } = toObject(item.options);
  return toImportedConversation({
    ...{ id: item.conversationId, title: item.title, messagesById, dropped, createdAtMs },
    updatedAtMs: times.reduce((latest, time) => Math.max(latest, time), createdAtMs),
    ...(typeof model === 'string' && { model }),
  });
}

/** Lists the messages of a tree. Stops soon after more than `maxTurns`. */
function flattenTree(roots: readonly unknown[]): readonly JsonObject[] {
  const messages = roots.filter(isJsonObject);
  for (let index = 0; index < messages.length && messages.length <= maxTurns; index += 1) {
    const children = messages[index]?.children;
    if (Array.isArray(children)) for (const child of children) if (isJsonObject(child)) messages.push(child);
  }
  return messages;
}

function toLibreChatMessage(message: JsonObject, dropped: DroppedContent): ImportedMessage | undefined {
  const { messageId, parentMessageId, isCreatedByUser, model, createdAt, content, text } = message;
  if (typeof messageId !== 'string') return undefined;
  const parts = filterObjects(content);
  dropped.steps += parts.filter(({ type }) => type !== 'text').length;
  for (const list of [message.files, message.attachments]) if (Array.isArray(list)) dropped.files += list.length;
  const joinedText = parts.map(getPartText).filter(Boolean).join('\n\n');
  const atMs = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
  return {
    ...{ id: messageId, parent: toText(parentMessageId) },
    kind: isCreatedByUser === true ? 'question' : 'reply',
    text: typeof text === 'string' && text !== '' ? text : joinedText,
    atMs: Number.isFinite(atMs) && atMs >= 0 ? atMs : undefined,
    ...(typeof model === 'string' && { model }),
  };
}

function getPartText({ type, text }: JsonObject): string {
  if (type !== 'text') return '';
  if (typeof text === 'string') return text;
  return toText(toObject(text).value);
}

/** Reads a chat of a ChatGPT export. Returns undefined for other formats. */
function readChatGpt(item: JsonObject, nowMs: number): ImportedConversation | undefined {
  const { mapping, title, create_time, update_time, is_archived, current_node } = item;
  if (!isJsonObject(mapping)) return undefined;
  const nodes = Object.entries(mapping);
  if (nodes.length > maxTurns) return undefined;
  const dropped: DroppedContent = { files: 0, steps: 0 };
  const messagesById = new Map(nodes.map(([id, node]) => [id, toChatGptMessage(id, toObject(node), dropped)]));
  const createdAtMs = toMs(create_time) ?? nowMs;
  return toImportedConversation({
    ...{ id: item.conversation_id ?? item.id, title, messagesById, dropped, createdAtMs },
    updatedAtMs: toMs(update_time) ?? createdAtMs,
    isArchived: is_archived === true,
    currentId: toText(current_node),
  });
}

function toChatGptMessage(id: string, { message, parent }: JsonObject, dropped: DroppedContent): ImportedMessage {
  const emptyMessage: ImportedMessage = { id, parent: toText(parent), text: '', atMs: undefined };
  if (!isJsonObject(message)) return emptyMessage;
  const { author, content, metadata, recipient, create_time } = message;
  const role = toObject(author).role;
  const fields = toObject(metadata);
  if (fields.is_visually_hidden_from_conversation === true || role === 'system' || !isJsonObject(content)) return emptyMessage;
  const type = content.content_type;
  const isTextContent = type === 'text' || type === 'multimodal_text';
  if (role === 'tool' || !isTextContent || (role === 'assistant' && (recipient ?? 'all') !== 'all')) {
    dropped.steps += 1;
    return emptyMessage;
  }
  const parts = Array.isArray(content.parts) ? content.parts : [];
  const attachmentCount = Array.isArray(fields.attachments) ? fields.attachments.length : 0;
  dropped.files += Math.max(attachmentCount, parts.filter(isJsonObject).length);
  const text = parts.filter((part) => typeof part === 'string').join('\n');
  if (text.trim() === '' && role !== 'user') return emptyMessage;
  return {
    ...{ ...emptyMessage, text, atMs: toMs(create_time), kind: role === 'user' ? 'question' : 'reply' },
    ...(typeof fields.model_slug === 'string' && { model: fields.model_slug }),
  };
}

/** Reads a chat of an Open WebUI export. Returns undefined for other formats. */
function readOpenWebUi(item: JsonObject, nowMs: number): ImportedConversation | undefined {
  const chat = toObject(item.chat);
  const history = toObject(chat.history);
  if (!isJsonObject(history.messages)) return undefined;
  const messages = Object.entries(history.messages);
  if (messages.length > maxTurns) return undefined;
  const dropped: DroppedContent = { files: 0, steps: 0 };
  const messagesById = new Map(messages.map(([id, message]) => [id, toOpenWebUiMessage(id, toObject(message), dropped)]));
  const createdAtMs = toMs(item.created_at) ?? nowMs;
  return toImportedConversation({
    ...{ id: item.id ?? chat.id, title: typeof item.title === 'string' ? item.title : chat.title },
    ...{ messagesById, dropped, createdAtMs, updatedAtMs: toMs(item.updated_at) ?? createdAtMs },
    isArchived: item.archived === true,
    isPinned: item.pinned === true,
    currentId: toText(history.currentId),
  });
}

function toOpenWebUiMessage(id: string, message: JsonObject, dropped: DroppedContent): ImportedMessage {
  const { role, content, parentId, files, output, model, timestamp } = message;
  const emptyMessage: ImportedMessage = { id, parent: toText(parentId), text: '', atMs: undefined };
  if (role !== 'user' && role !== 'assistant') return emptyMessage;
  if (Array.isArray(files)) dropped.files += files.length;
  if (Array.isArray(output)) dropped.steps += output.filter((item) => isJsonObject(item) && item.type !== 'message').length;
  const fullText = toText(content);
  if (role === 'user') return { ...emptyMessage, kind: 'question', text: fullText, atMs: toMs(timestamp) };
  if (!Array.isArray(output)) dropped.steps += fullText.match(foldedDetails)?.length ?? 0;
  const text = fullText.replace(foldedDetails, '');
  if (text.trim() === '') return emptyMessage;
  return { ...emptyMessage, kind: 'reply', text, atMs: toMs(timestamp), ...(typeof model === 'string' && { model }) };
}
