import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { isEffort } from '../conversation/chat-settings.ts';
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

function isSummary({ id, title, deployment, createdAtMs, updatedAtMs, shown, ...optional }: JsonObject): boolean {
  const isTags = (tags: unknown): boolean =>
    isArrayOf(tags, (tag) => isShortText(tag) && tag.length <= 60) && (tags as unknown[]).length <= 20;
  return (
    isId(id) &&
    isShortText(title) &&
    isShortText(deployment) &&
    [createdAtMs, updatedAtMs].every(isTimestamp) &&
    isJsonObject(shown) &&
    Object.values(shown).every(isText) &&
    areValid(optional, { settings: isSettings, ratings: isRatings, tags: isTags, pinned: isFlag, archived: isFlag })
  );
}

function isSettings(settings: unknown): boolean {
  const checks = { instructions: isText, temperature: isNumber, maxTokens: isNumber, effort: isEffort, addons: isTexts };
  return isJsonObject(settings) && areValid(settings, checks);
}

function isRatings(ratings: unknown): boolean {
  const isRating = (rating: unknown): boolean => isJsonObject(rating) && isFlag(rating.isGood) && isText(rating.comment);
  return isJsonObject(ratings) && Object.values(ratings).every(isRating);
}

function isTurn(turn: unknown): turn is Turn {
  if (!isJsonObject(turn) || !isId(turn.id) || !isTimestamp(turn.atMs) || !isText(turn.text)) return false;
  if (turn.parent !== '' && !isId(turn.parent)) return false;
  if (turn.kind === 'question') {
    return isArrayOf(turn.attachments, isAttachment) && areValid(turn, questionChecks);
  }
  const { custom, stageTimes } = turn;
  return (
    turn.kind === 'reply' &&
    isShortText(turn.deployment) &&
    states.includes(turn.state) &&
    isJsonObject(stageTimes) &&
    Object.values(stageTimes).every(isJsonObject) &&
    isJsonObject(custom) &&
    isCustom(custom) &&
    areValid(turn, replyChecks)
  );
}

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;

const isToolResult = (result: unknown): boolean => isJsonObject(result) && [result.id, result.name, result.text].every(isText);

/** Checks of the optional fields of a question. */
const questionChecks: Checks = {
  control: (control) => isJsonObject(control) && isText(control.label) && areValid(control, { value: isJsonObject }),
  filled: isTexts,
  toolName: isText,
  toolResults: (results) => isArrayOf(results, isToolResult),
};

/** Checks of the optional fields of a reply. */
const replyChecks: Checks = {
  ...{ thoughts: isText, deploymentName: isText, finish: isText, responseId: isText, continues: isText, resumes: isText },
  ...{ endedAtMs: isTimestamp, omittedMessages: isNumber, omittedFiles: isTexts, functionCall: isJsonObject },
  ...{ usage: isJsonObject, statistics: isJsonObject, toolCalls: (calls) => isArrayOf(calls, isJsonObject) },
  fault: (fault) => isJsonObject(fault) && isText(fault.code) && isText(fault.message),
  usedContext: (context) => isJsonObject(context) && isTexts(context.projects),
};

/** Whether each field that has a check is missing or valid. */
function areValid(fields: JsonObject, checks: Checks): boolean {
  return Object.entries(checks).every(([key, isValid]) => fields[key] === undefined || isValid(fields[key]));
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

function isTexts(value: unknown): boolean {
  return isArrayOf(value, isText);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean';
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
