import { isJsonObject, tryParseJson } from '#base/json.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { Imported, Lost } from './imported.ts';
import { ItemSplitter, UnreadableFile } from './item-splitter.ts';
import { readChatGpt } from './read-chatgpt.ts';
import { readLibreChat } from './read-librechat.ts';
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
