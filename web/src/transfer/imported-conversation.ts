import type { Conversation, Question, Reply, Turn } from '../conversation/conversation.ts';

/** What a file had that conversations here have no place for. */
export interface DroppedContent {
  /** Files and pictures. */
  files: number;
  /** Calls of tools, what they gave, and what a model thought. */
  steps: number;
}

/** A conversation as it was read. */
export interface ImportedConversation {
  readonly conversation: Conversation;
  readonly dropped: DroppedContent;
  /** The model that answered last, in the name the file has for it. */
  readonly model: string;
}

/** A message of another product; what is neither said nor answered has no `kind`. */
export interface ImportedMessage {
  readonly id: string;
  /** The message before it; '' for the first. */
  readonly parent: string;
  readonly kind?: Turn['kind'];
  readonly text: string;
  readonly atMs: number | undefined;
  readonly model?: string;
}

export const maxTurns = 20_000;
const idForm = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether the service takes it as an id. */
export function isId(id: unknown): id is string {
  return typeof id === 'string' && idForm.test(id);
}

/** The branch that leads to the message that was looked at last. */
export function selectBranch(
  last: string,
  messages: ReadonlyMap<string, ImportedMessage>,
  turns: ImportedConversation['conversation']['turns'],
): Record<string, string> {
  const selected: Record<string, string> = {};
  const visited = new Set<string>();
  for (let id = last; messages.has(id) && !visited.has(id); id = messages.get(id)?.parent ?? '') {
    visited.add(id);
    const turn = turns[id];
    if (turn !== undefined) selected[turn.parent] = turn.id;
  }
  return selected;
}

/** A time of a file, which counts seconds. */
export function toMs(seconds: unknown): number | undefined {
  const isTime = typeof seconds === 'number' && seconds >= 0 && seconds < 8_640_000_000_000;
  return isTime ? Math.round(seconds * 1000) : undefined;
}

/** An id that the service takes: the one of the file, if that will do. */
export function toId(id: unknown): string {
  return isId(id) ? id : crypto.randomUUID();
}

/** Messages as turns: those in between left out, what one side says in a row as one, each later than what it follows. */
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

/** The nearest message before that is kept; '' if there is none. Chains that lead back to themselves end. */
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

/** Parents before what follows them; those that follow nobody that leads to a first one are left out. */
function sortByParent(
  messages: readonly ImportedMessage[],
  getParent: (message: ImportedMessage) => string,
): readonly ImportedMessage[] {
  const childrenById = Map.groupBy(messages, getParent);
  const ordered = [...(childrenById.get('') ?? [])];
  for (let index = 0; index < ordered.length; index += 1) ordered.push(...(childrenById.get(ordered[index]?.id ?? '') ?? []));
  return ordered;
}
