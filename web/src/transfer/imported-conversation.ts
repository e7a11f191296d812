import type { Conversation, Question, Reply, Turn } from '../conversation/conversation.ts';

/** Numbers of omitted items of a file, which chats here do not support. */
export interface DroppedContent {
  files: number;
  /** Tool calls, their results, and thoughts. */
  steps: number;
}

/** A chat as read from a file. */
export interface ImportedConversation {
  readonly conversation: Conversation;
  readonly dropped: DroppedContent;
  /** Last answering model, by its name in the file. */
  readonly model: string;
}

/** A message of another product. `kind` is undefined for messages that do not become turns. */
export interface ImportedMessage {
  readonly id: string;
  /** The previous message, or '' for the first. */
  readonly parent: string;
  readonly kind?: Turn['kind'];
  readonly text: string;
  readonly atMs: number | undefined;
  readonly model?: string;
}

export const maxTurns = 20_000;
const maxTitleLength = 200;
const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether the service accepts a value as an ID. */
export function isId(id: unknown): id is string {
  return typeof id === 'string' && idPattern.test(id);
}

/** A chat of another product. */
interface SourceConversation {
  /** ID and title in the file. */
  readonly id: unknown;
  readonly title: unknown;
  readonly messagesById: ReadonlyMap<string, ImportedMessage>;
  readonly dropped: DroppedContent;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly isArchived?: boolean;
  readonly isPinned?: boolean;
  /** ID of the last viewed message. Undefined if the file does not contain it. */
  readonly currentId?: string;
  /** Model of the chat. The default is the last answering model. */
  readonly model?: string;
}

/** Converts a chat of another product. Returns undefined if it has no questions and no answers. */
export function toImportedConversation(chat: SourceConversation): ImportedConversation | undefined {
  const { id, title, messagesById, dropped, createdAtMs, updatedAtMs, currentId, model } = chat;
  const turns = toTurns(messagesById, createdAtMs);
  if (Object.keys(turns).length === 0) return undefined;
  const last = [...messagesById.values()].findLast((message) => message.model !== undefined);
  return {
    ...{ dropped, model: model ?? last?.model ?? '' },
    conversation: {
      ...{ id: toId(id), title: typeof title === 'string' ? title.slice(0, maxTitleLength) : '', deployment: '' },
      ...(chat.isArchived === true && { archived: true }),
      ...(chat.isPinned === true && { pinned: true }),
      ...{ createdAtMs, updatedAtMs, turns },
      shown: currentId === undefined ? {} : selectBranch(currentId, messagesById, turns),
    },
  };
}

/** Selects the branch with the last viewed message. Returns the selected turn of each parent. */
function selectBranch(
  lastId: string,
  messages: ReadonlyMap<string, ImportedMessage>,
  turns: Conversation['turns'],
): Record<string, string> {
  const selected: Record<string, string> = {};
  const visited = new Set<string>();
  for (let id = lastId; messages.has(id) && !visited.has(id); id = messages.get(id)?.parent ?? '') {
    visited.add(id);
    const turn = turns[id];
    if (turn !== undefined) selected[turn.parent] = turn.id;
  }
  return selected;
}

/** Converts seconds to milliseconds. Returns undefined if the value is not a valid time. */
export function toMs(seconds: unknown): number | undefined {
  const isTime = typeof seconds === 'number' && seconds >= 0 && seconds < 8_640_000_000_000;
  return isTime ? Math.round(seconds * 1000) : undefined;
}

/** Returns an ID that the service accepts: the ID of the file if it is valid. */
function toId(id: unknown): string {
  return isId(id) ? id : crypto.randomUUID();
}

/**
 * Converts messages to turns. Omits messages without a kind, merges consecutive messages of one side, and makes each turn later than
 * its parent.
 */
export function toTurns(messages: ReadonlyMap<string, ImportedMessage>, startMs: number): Record<string, Turn> {
  const resolvedParents = new Map<string, string>();
  const turns: Record<string, Turn> = {};
  const ids = new Map<string, string>();
  const counts = new Map<string, number>();
  const getParent = ({ parent }: ImportedMessage): string => findTurnParent(parent, messages, resolvedParents);
  const turnMessages = [...messages.values()].filter(({ kind }) => kind !== undefined);
  for (const message of turnMessages) counts.set(getParent(message), (counts.get(getParent(message)) ?? 0) + 1);
  for (const message of sortByParent(turnMessages, getParent)) {
    const parent = ids.get(getParent(message)) ?? '';
    const last = turns[parent];
    if (last !== undefined && last.kind === message.kind && counts.get(getParent(message)) === 1) {
      turns[parent] = { ...last, text: [last.text, message.text].filter(Boolean).join('\n\n') };
      ids.set(message.id, parent);
      continue;
    }
    const id = toId(message.id);
    ids.set(message.id, id);
    turns[id] = toTurn(message, { id, parent, atMs: Math.max(message.atMs ?? startMs, (last?.atMs ?? 0) + 1) });
  }
  return turns;
}

function toTurn(message: ImportedMessage, position: { id: string; parent: string; atMs: number }): Turn {
  const { text, model = '' } = message;
  if (message.kind === 'question') return { kind: 'question', ...position, text, attachments: [] } satisfies Question;
  return { kind: 'reply', ...position, state: 'done', deployment: model, text, custom: {}, stageTimes: {} } satisfies Reply;
}

/** Returns the closest ancestor with a kind, or '' if there is none. Stops at cycles. */
function findTurnParent(id: string, messages: ReadonlyMap<string, ImportedMessage>, resolved: Map<string, string>): string {
  const visited = new Set<string>();
  let currentId = id;
  for (;;) {
    const resolvedId = resolved.get(currentId);
    const message = messages.get(currentId);
    if (resolvedId !== undefined || message === undefined || visited.has(currentId)) {
      currentId = resolvedId ?? '';
      break;
    }
    if (message.kind !== undefined) break;
    visited.add(currentId);
    currentId = message.parent;
  }
  for (const visitedId of visited) resolved.set(visitedId, currentId);
  return currentId;
}

/** Sorts parents before their children. Omits messages without a path to a first message. */
function sortByParent(
  messages: readonly ImportedMessage[],
  getParent: (message: ImportedMessage) => string,
): readonly ImportedMessage[] {
  const childrenById = Map.groupBy(messages, getParent);
  const ordered = [...(childrenById.get('') ?? [])];
  for (let index = 0; index < ordered.length; index += 1) ordered.push(...(childrenById.get(ordered[index]?.id ?? '') ?? []));
  return ordered;
}
