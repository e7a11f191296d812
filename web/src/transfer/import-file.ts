import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { type Imported, type Lost, mostTurns, type Said, toId, toTurns } from './imported.ts';
import { ItemSplitter, UnreadableFile } from './item-splitter.ts';
import { readChatGpt } from './read-chatgpt.ts';
import { readOpenWebUi } from './read-open-webui.ts';
import { readOwn } from './read-own.ts';

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
