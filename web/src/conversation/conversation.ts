import type { FinishReason, ResponseCustomContent, Statistics, Usage } from '#contract/chat/chunk.ts';
import type { Attachment, CompletedControl } from '#contract/chat/message.ts';
import type { ErrorDetails } from '../service/service-error.ts';
import type { ChatSettings } from './chat-settings.ts';

/** When a step of a reply began and ended, as this page saw it. */
export interface StageTime {
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  /** The step that was the only one under way when this one began: this one is shown inside it. */
  readonly within?: number;
}

export interface Question {
  readonly kind: 'question';
  readonly id: string;
  /** The reply it follows; '' for the first of a conversation. */
  readonly parent: string;
  readonly atMs: number;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly control?: CompletedControl;
  /** What was filled in with it, in the words of its form. */
  readonly filled?: readonly string[];
}

export interface Reply {
  readonly kind: 'reply';
  readonly id: string;
  /** The question it answers. */
  readonly parent: string;
  readonly atMs: number;
  readonly endedAtMs?: number;
  readonly deployment: string;
  /** `interrupted`: the page went away while it came. */
  readonly state: 'running' | 'done' | 'stopped' | 'failed' | 'interrupted';
  readonly text: string;
  /** What the model thought before it answered. */
  readonly thoughts?: string;
  readonly custom: ResponseCustomContent;
  readonly functionCall?: { readonly name?: string; readonly arguments?: string };
  readonly finish?: FinishReason;
  readonly usage?: Usage;
  readonly statistics?: Statistics;
  readonly stageTimes: Readonly<Record<number, StageTime>>;
  readonly fault?: ErrorDetails;
  /** As the service knows it. */
  readonly responseId?: string;
  /** The text is the user's own, in place of what was answered. */
  readonly isEdited?: boolean;
  /** The answer, cut short, that this one begins with and goes on from. */
  readonly continues?: string;
}

/** What the user thinks of an answer. */
export interface Rating {
  readonly isGood: boolean;
  readonly comment: string;
}

export type Turn = Question | Reply;

/** A tree of turns: asking again and editing add a branch, none is ever lost. */
export interface Conversation {
  readonly id: string;
  readonly title: string;
  /** Listed before the others. */
  readonly pinned?: boolean;
  /** Listed apart from the others. */
  readonly archived?: boolean;
  readonly tags?: readonly string[];
  /** Whom the next question goes to. */
  readonly deployment: string;
  readonly settings?: ChatSettings;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly turns: Readonly<Record<string, Turn>>;
  /** By id of the reply. */
  readonly ratings?: Readonly<Record<string, Rating>>;
  /** By parent, the branch that is shown; absent: the last one. */
  readonly shown: Readonly<Record<string, string>>;
}

const maxTitleLength = 80;

/** By parent, the turns that follow it, in the order they were made. */
export function groupBranches({ turns }: Conversation): ReadonlyMap<string, readonly Turn[]> {
  return Map.groupBy(Object.values(turns), ({ parent }) => parent);
}

/** Those of the versions of a turn that can be chosen: what another one goes on from is in that one, whole. */
export function listVersions(branches: readonly Turn[], visible: Turn): readonly Turn[] {
  const continued = new Set(branches.map((turn) => turn.kind === 'reply' && turn.continues));
  return branches.filter((turn) => turn === visible || !continued.has(turn.id));
}

/** The turns that are shown, from the first on. */
export function listVisibleTurns(conversation: Conversation): readonly Turn[] {
  const lastByParent = new Map<string, Turn>();
  for (const turn of Object.values(conversation.turns)) lastByParent.set(turn.parent, turn);
  const path: Turn[] = [];
  for (let turn = findNext(''); turn !== undefined; turn = findNext(turn.id)) path.push(turn);
  return path;

  function findNext(parent: string): Turn | undefined {
    const selected = conversation.turns[conversation.shown[parent] ?? ''];
    return selected?.parent === parent ? selected : lastByParent.get(parent);
  }
}

/** The turns from the first to this one. */
export function listTurnsUpTo({ turns }: Conversation, id: string): readonly Turn[] {
  const path: Turn[] = [];
  for (let turn = turns[id]; turn !== undefined; turn = turns[turn.parent]) path.unshift(turn);
  return path;
}

/** With one more turn, shown. The first question gives the title. */
export function withTurn(conversation: Conversation, turn: Turn): Conversation {
  const title = conversation.title === '' && turn.kind === 'question' ? toTitle(turn) : conversation.title;
  return {
    ...conversation,
    title,
    updatedAtMs: turn.atMs,
    turns: { ...conversation.turns, [turn.id]: turn },
    shown: { ...conversation.shown, [turn.parent]: turn.id },
  };
}

/** With another version of a turn that is there; unchanged where it is not. */
export function withReply(conversation: Conversation, reply: Reply): Conversation {
  if (conversation.turns[reply.id] === undefined) return conversation;
  return { ...conversation, turns: { ...conversation.turns, [reply.id]: reply } };
}

/** Whether an answer offers what is to be filled in or chosen. */
export function hasControls({ custom: { controls } }: Reply): boolean {
  return Array.isArray(controls) && controls.length > 0;
}

/** Where an answer leaves nothing to decide: whether it is to go on, or what is filled into its form. */
export function hasEndedWell(reply: Reply): boolean {
  return reply.state === 'done' && reply.finish !== 'length' && !hasControls(reply);
}

export function withVisibleTurn(conversation: Conversation, { parent, id }: Turn): Conversation {
  return { ...conversation, shown: { ...conversation.shown, [parent]: id } };
}

/** With replies that were under way marked as broken off: after the page was loaded anew nothing comes any more. */
export function withInterruptedReplies(conversation: Conversation): Conversation {
  const runningReplies = Object.values(conversation.turns).filter((turn) => turn.kind === 'reply' && turn.state === 'running');
  return runningReplies.reduce<Conversation>(
    (sum, turn) => withReply(sum, { ...(turn as Reply), state: 'interrupted' }),
    conversation,
  );
}

/** What a conversation is called by its first question. */
export function toTitle({ text, attachments, control }: Question): string {
  const title = text.trim().replace(/\s+/g, ' ') || control?.label || attachments[0]?.title || '';
  return title.length > maxTitleLength ? `${title.slice(0, maxTitleLength - 1)}…` : title;
}
