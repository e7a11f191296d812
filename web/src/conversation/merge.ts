import type { JsonObject } from '#base/json/json.ts';
import { type Arrangement, arrangementOf } from './arrangement.ts';
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

export function fieldsOf(fields: SharedFields): SharedFields {
  const { deployment, settings, ratings, shown, createdAtMs } = fields;
  const optional = { ...(settings !== undefined && { settings }), ...(ratings !== undefined && { ratings }) };
  return { ...arrangementOf(fields), deployment, ...optional, shown, createdAtMs };
}

/** The turns that are to be sent: those that will not change any more and the service has not. */
export function unsentTurns({ turns }: Conversation, mark: SyncMark | undefined): readonly Turn[] {
  const sent = new Set(mark?.turns);
  return Object.values(turns).filter((turn) => !sent.has(turn.id) && !isComing(turn));
}

/** Whether the fields differ from those that the service has. */
export function areFieldsUnsent(conversation: Conversation, mark: SyncMark | undefined): boolean {
  return mark === undefined || !isSame(fieldsOf(conversation), fieldsOf(mark.fields));
}

/** What a turn has at least: other clients of the service may write less. */
function withFields(turn: Turn): Turn {
  const least = turn.kind === 'question' ? { attachments: [] } : { state: 'done', deployment: '', custom: {}, stageTimes: {} };
  return { ...least, ...(turn as object) } as Turn;
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
  const listed = (turns as readonly Turn[]).map(withFields);
  return {
    ...{
      id,
      ...arrangementOf({ title, pinned, archived, tags } as Arrangement),
      deployment,
      updatedAtMs,
      createdAtMs: createdAtMs ?? updatedAtMs,
      shown,
    },
    ...(settings !== undefined && { settings }),
    ...(ratings !== undefined && { ratings }),
    turns: Object.fromEntries(listed.map((turn) => [turn.id, turn])),
  } as Conversation;
}

/** Both of them: every turn of either; of each field the one that changed since `mark`, what both had. */
export function merged(own: Conversation, other: Conversation, mark: SharedFields | undefined): Conversation {
  const base = mark && fieldsOf(mark);
  const fields: Record<string, unknown> = { ...fieldsOf(other) };
  for (const [key, value] of Object.entries(fieldsOf(own)))
    if (base !== undefined && !isSame(value, base[key as keyof SharedFields])) fields[key] = value;
  const all = { ...own.turns };
  for (const turn of Object.values(other.turns)) {
    const there = all[turn.id];
    if (there === undefined || isComing(there)) all[turn.id] = turn;
  }
  const turns = Object.fromEntries(
    Object.values(all)
      .sort((one, next) => one.atMs - next.atMs)
      .map((turn) => [turn.id, turn]),
  );
  const isShownAnew = base !== undefined && !isSame(own.shown, base.shown);
  return {
    ...(fields as unknown as SharedFields),
    id: own.id,
    updatedAtMs: Math.max(own.updatedAtMs, other.updatedAtMs),
    turns,
    shown: isShownAnew ? { ...other.shown, ...own.shown } : other.shown,
  };
}

function isComing(turn: Turn): boolean {
  return turn.kind === 'reply' && turn.state === 'running';
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
