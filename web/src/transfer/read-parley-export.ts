import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { type Conversation, type Turn, withInterruptedReplies } from '../conversation/conversation.ts';
import { getSharedFields } from '../conversation/merge.ts';
import { type ImportedConversation, isId, maxTurns } from './imported-conversation.ts';

const states: readonly unknown[] = ['running', 'done', 'stopped', 'failed', 'interrupted'];
const maxTimeMs = 8_640_000_000_000_000;

/** Reads a chat of a file from this page. Returns undefined if any part differs from the format. */
export function readParleyExport(item: JsonObject): ImportedConversation | undefined {
  const { format: _, version, turns, ...fields } = item;
  if (version !== 1 || !isJsonObject(turns) || !isSummary(fields)) return undefined;
  const turnEntries = Object.entries(turns);
  if (turnEntries.length > maxTurns || !turnEntries.every(([id, turn]) => isTurn(turn) && turn.id === id)) return undefined;
  const summary = fields as unknown as Omit<Conversation, 'turns'>;
  const { id, updatedAtMs } = summary;
  const conversation = withInterruptedReplies({
    id,
    updatedAtMs,
    ...getSharedFields(summary),
    turns: turns as Record<string, Turn>,
  });
  return { conversation, dropped: { files: 0, steps: 0 }, model: conversation.deployment };
}

function isSummary({
  id,
  title,
  deployment,
  createdAtMs,
  updatedAtMs,
  shown,
  settings,
  tags,
  pinned,
  archived,
}: JsonObject): boolean {
  const isFlag = (value: unknown): boolean => value === undefined || typeof value === 'boolean';
  return (
    isId(id) &&
    isShortText(title) &&
    isShortText(deployment) &&
    [createdAtMs, updatedAtMs].every(isTimestamp) &&
    isJsonObject(shown) &&
    Object.values(shown).every(isText) &&
    (settings === undefined || isJsonObject(settings)) &&
    (tags === undefined ||
      (Array.isArray(tags) && tags.length <= 20 && tags.every((tag) => isShortText(tag) && tag.length <= 60))) &&
    [pinned, archived].every(isFlag)
  );
}

function isTurn(turn: unknown): turn is Turn {
  if (!isJsonObject(turn) || !isId(turn.id) || !isTimestamp(turn.atMs) || !isText(turn.text)) return false;
  if (turn.parent !== '' && !isId(turn.parent)) return false;
  if (turn.kind === 'question') {
    const { control, filled } = turn;
    return (
      isArrayOf(turn.attachments, isAttachment) &&
      (control === undefined || isJsonObject(control)) &&
      (filled === undefined || isArrayOf(filled, isText))
    );
  }
  const { thoughts, fault, custom, stageTimes } = turn;
  return (
    turn.kind === 'reply' &&
    isShortText(turn.deployment) &&
    states.includes(turn.state) &&
    isJsonObject(stageTimes) &&
    Object.values(stageTimes).every(isJsonObject) &&
    isJsonObject(custom) &&
    isCustom(custom) &&
    (thoughts === undefined || isText(thoughts)) &&
    (fault === undefined || (isJsonObject(fault) && isText(fault.code) && isText(fault.message)))
  );
}

function isCustom({ attachments = [], stages = [], controls = [] }: JsonObject): boolean {
  const isStage = (stage: unknown): boolean =>
    isJsonObject(stage) &&
    [stage.name ?? '', stage.content ?? ''].every(isText) &&
    isArrayOf(stage.attachments ?? [], isAttachment);
  return isArrayOf(attachments, isAttachment) && isArrayOf(stages, isStage) && isArrayOf(controls, isJsonObject);
}

function isAttachment(value: unknown): boolean {
  return isJsonObject(value) && ['type', 'title', 'data', 'url', 'reference_url'].every((key) => isText(value[key] ?? ''));
}

function isArrayOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isShortText(value: unknown): value is string {
  return isText(value) && value.length <= 1000;
}

function isTimestamp(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= maxTimeMs;
}
