import type { JsonObject } from '#base/json/json.ts';
import { type Conversation, isRunning, sortTurns, type Turn } from './conversation.ts';
import { getListAttributes, isSame, type ListAttributes } from './list-attributes.ts';

/** The state of a chat at the service, as known to this browser. */
export interface SyncState {
  readonly id: string;
  readonly revision: number;
  /** IDs of the complete turns at the service. */
  readonly turns: readonly string[];
  /** IDs of answers that were sent or received while they were in progress. */
  readonly running?: readonly string[];
  /** Fields without the turns, as sent or received. */
  readonly fields: SharedFields;
}

type SharedFields = ListAttributes & Pick<Conversation, 'deployment' | 'settings' | 'ratings' | 'shown' | 'createdAtMs'>;

export function getSharedFields(fields: SharedFields): SharedFields {
  const { deployment, settings, ratings, shown, createdAtMs } = fields;
  const optional = { ...(settings !== undefined && { settings }), ...(ratings !== undefined && { ratings }) };
  return { ...getListAttributes(fields), deployment, ...optional, shown, createdAtMs };
}

/**
 * Lists the turns to send: those that are final and that the service does not have. Answers that the service continues are also
 * sent when they start, so that other devices can follow them.
 */
export function listUnsentTurns({ turns }: Conversation, state: SyncState | undefined): readonly Turn[] {
  const sent = new Set(state?.turns);
  const started = new Set(state?.running);
  return Object.values(turns).filter(
    (turn) => !sent.has(turn.id) && (!isRunning(turn) || (turn.isRun === true && !started.has(turn.id))),
  );
}

/** Adds sent or received turns to a sync state. */
export function addSyncedTurns(state: SyncState | undefined, turns: readonly Turn[]): Pick<SyncState, 'turns' | 'running'> {
  const toIds = (before: readonly string[] = [], added: readonly Turn[]) => [
    ...new Set([...before, ...added.map(({ id }) => id)]),
  ];
  return {
    turns: toIds(
      state?.turns,
      turns.filter((turn) => !isRunning(turn)),
    ),
    running: toIds(state?.running, turns.filter(isRunning)),
  };
}

/** Whether the fields differ from those of the service. */
export function areFieldsUnsent(conversation: Conversation, state: SyncState | undefined): boolean {
  return state === undefined || !isSame(getSharedFields(conversation), getSharedFields(state.fields));
}

/** Fills in missing fields of a turn, because other clients of the service may write fewer. */
function withDefaults(turn: Turn): Turn {
  const defaults = turn.kind === 'question' ? { attachments: [] } : { state: 'done', deployment: '', custom: {}, stageTimes: {} };
  return { ...defaults, ...(turn as object) } as Turn;
}

/** Converts a chat of the service, with the turns in the response. */
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
  const parsedTurns = (turns as readonly Turn[]).map(withDefaults);
  return {
    id,
    ...getListAttributes({ title, pinned, archived, tags } as ListAttributes),
    deployment,
    updatedAtMs,
    createdAtMs: createdAtMs ?? updatedAtMs,
    shown,
    ...(settings !== undefined && { settings }),
    ...(ratings !== undefined && { ratings }),
    turns: Object.fromEntries(parsedTurns.map((turn) => [turn.id, turn])),
  } as Conversation;
}

/**
 * Merges two versions of a chat: the turns of both, and the local value of each field that changed here since the `common` ones.
 */
export function mergeConversations(local: Conversation, remote: Conversation, common: SharedFields | undefined): Conversation {
  const base = common && getSharedFields(common);
  const fields: Record<string, unknown> = { ...getSharedFields(remote) };
  for (const [key, value] of Object.entries(getSharedFields(local)))
    if (base !== undefined && !isSame(value, base[key as keyof SharedFields])) fields[key] = value;
  const all = { ...local.turns };
  for (const turn of Object.values(remote.turns)) {
    const existing = all[turn.id];
    const isLost = existing?.kind === 'reply' && existing.isLost === true;
    if (existing === undefined || isRunning(existing) || isLost) all[turn.id] = turn;
  }
  const isShownChanged = base !== undefined && !isSame(local.shown, base.shown);
  return {
    ...(fields as unknown as SharedFields),
    id: local.id,
    updatedAtMs: Math.max(local.updatedAtMs, remote.updatedAtMs),
    turns: sortTurns(Object.values(all)),
    shown: isShownChanged ? { ...remote.shown, ...local.shown } : remote.shown,
  };
}
