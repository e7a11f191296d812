import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { type Conversation, settled, type Turn } from '../conversation/conversation.ts';
import { fieldsOf } from '../conversation/merge.ts';
import { type Imported, isId, mostTurns } from './imported.ts';

const states: readonly unknown[] = ['running', 'done', 'stopped', 'failed', 'interrupted'];
const longestMs = 8_640_000_000_000_000;

/** A conversation of a file that this page has written; undefined if anything of it is not as the page writes it. */
export function readOwn(item: JsonObject): Imported | undefined {
  const { format: _, version, turns, ...fields } = item;
  if (version !== 1 || !isJsonObject(turns) || !isHead(fields)) return undefined;
  const all = Object.entries(turns);
  if (all.length > mostTurns || !all.every(([id, turn]) => isTurn(turn) && turn.id === id)) return undefined;
  const head = fields as unknown as Omit<Conversation, 'turns'>;
  const { id, updatedAtMs } = head;
  const conversation = settled({ id, updatedAtMs, ...fieldsOf(head), turns: turns as Record<string, Turn> });
  return { conversation, lost: { files: 0, steps: 0 }, model: conversation.deployment };
}

function isHead({
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
    isShort(title) &&
    isShort(deployment) &&
    [createdAtMs, updatedAtMs].every(isMoment) &&
    isJsonObject(shown) &&
    Object.values(shown).every(isText) &&
    (settings === undefined || isJsonObject(settings)) &&
    (tags === undefined || (Array.isArray(tags) && tags.length <= 20 && tags.every((tag) => isShort(tag) && tag.length <= 60))) &&
    [pinned, archived].every(isFlag)
  );
}

function isTurn(turn: unknown): turn is Turn {
  if (!isJsonObject(turn) || !isId(turn.id) || !isMoment(turn.atMs) || !isText(turn.text)) return false;
  if (turn.parent !== '' && !isId(turn.parent)) return false;
  if (turn.kind === 'question') {
    const { control, filled } = turn;
    return (
      isListOf(turn.attachments, isAttachment) &&
      (control === undefined || isJsonObject(control)) &&
      (filled === undefined || isListOf(filled, isText))
    );
  }
  const { thoughts, fault, custom, stageTimes } = turn;
  return (
    turn.kind === 'reply' &&
    isShort(turn.deployment) &&
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
    isListOf(stage.attachments ?? [], isAttachment);
  return isListOf(attachments, isAttachment) && isListOf(stages, isStage) && isListOf(controls, isJsonObject);
}

function isAttachment(value: unknown): boolean {
  return isJsonObject(value) && ['type', 'title', 'data', 'url', 'reference_url'].every((key) => isText(value[key] ?? ''));
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isShort(value: unknown): value is string {
  return isText(value) && value.length <= 1000;
}

function isMoment(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= longestMs;
}
