import type { JsonObject } from '#base/json/json.ts';
import { type Arrangement, getArrangement } from './arrangement.ts';
import type { Conversation, Turn } from './conversation.ts';

/** What the service has of a conversation, as far as this browser knows. */
export interface SyncMark {
  readonly id: string;
  readonly revision: number;
  /** Ids of the turns that it has. */
  readonly turns: readonly string[];
  /** The fields beside the turns, as they were sent or came. */
  readonly fields: SharedFields;
}

type SharedFields = Arrangement & Pick<Conversation, 'deployment' | 'settings' | 'ratings' | 'shown' | 'createdAtMs'>;

export function getSharedFields(fields: SharedFields): SharedFields {
  const { deployment, settings, ratings, shown, createdAtMs } = fields;
  const optional = { ...(settings !== undefined && { settings }), ...(ratings !== undefined && { ratings }) };
  return { ...getArrangement(fields), deployment, ...optional, shown, createdAtMs };
}

/** The turns that are to be sent: those that will not change any more and the service has not. */
export function listUnsentTurns({ turns }: Conversation, mark: SyncMark | undefined): readonly Turn[] {
  const sent = new Set(mark?.turns);
  return Object.values(turns).filter((turn) => !sent.has(turn.id) && !isRunning(turn));
}

/** Whether the fields differ from those that the service has. */
export function areFieldsUnsent(conversation: Conversation, mark: SyncMark | undefined): boolean {
  return mark === undefined || !isSame(getSharedFields(conversation), getSharedFields(mark.fields));
}

/** What a turn has at least: other clients of the service may write less. */
function withFields(turn: Turn): Turn {
  const defaults = turn.kind === 'question' ? { attachments: [] } : { state: 'done', deployment: '', custom: {}, stageTimes: {} };
  return { ...defaults, ...(turn as object) } as Turn;
}

/** A conversation as the service tells it, with those of its turns that it told. */
export function fromChat(chat: JsonObject): Conversation {
  const {
    id,
    title = '',
    pinned,
    archived,
    tags,
    deployment = '',
    updatedAtMs,
    createdAtMs,
    settings,
    ratings,
    shown = {},
    turns,
  } = chat;
  const parsedTurns = (turns as readonly Turn[]).map(withFields);
  return {
    ...{
      id,
      ...getArrangement({ title, pinned, archived, tags } as Arrangement),
      deployment,
      updatedAtMs,
      createdAtMs: createdAtMs ?? updatedAtMs,
      shown,
    },
    ...(settings !== undefined && { settings }),
    ...(ratings !== undefined && { ratings }),
    turns: Object.fromEntries(parsedTurns.map((turn) => [turn.id, turn])),
  } as Conversation;
}

/** Both of them: every turn of either; of each field the one that changed since `mark`, what both had. */
export function mergeConversations(local: Conversation, remote: Conversation, mark: SharedFields | undefined): Conversation {
  const base = mark && getSharedFields(mark);
  const fields: Record<string, unknown> = { ...getSharedFields(remote) };
  for (const [key, value] of Object.entries(getSharedFields(local)))
    if (base !== undefined && !isSame(value, base[key as keyof SharedFields])) fields[key] = value;
  const all = { ...local.turns };
  for (const turn of Object.values(remote.turns)) {
    const existing = all[turn.id];
    if (existing === undefined || isRunning(existing)) all[turn.id] = turn;
  }
  const turns = Object.fromEntries(
    Object.values(all)
      .sort((left, right) => left.atMs - right.atMs)
      .map((turn) => [turn.id, turn]),
  );
  const isShownChanged = base !== undefined && !isSame(local.shown, base.shown);
  return {
    ...(fields as unknown as SharedFields),
    id: local.id,
    updatedAtMs: Math.max(local.updatedAtMs, remote.updatedAtMs),
    turns,
    shown: isShownChanged ? { ...remote.shown, ...local.shown } : remote.shown,
  };
}

function isRunning(turn: Turn): boolean {
  return turn.kind === 'reply' && turn.state === 'running';
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
