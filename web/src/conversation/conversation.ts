import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { FinishReason, ResponseCustomContent, Statistics, Usage } from '#contract/chat/chunk.ts';
import type { Attachment, CompletedControl } from '#contract/chat/message.ts';
import { toChatTitle } from '#contract/page/turn-texts.ts';
import type { ErrorDetails } from '../service/service-error.ts';
import type { ChatSettings } from './chat-settings.ts';

/** Start and end of a reply step, as observed by this page. */
export interface StageTime {
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  /** The only step in progress when this step started. This step is shown inside it. */
  readonly within?: number;
}

export interface Question {
  readonly kind: 'question';
  readonly id: string;
  /** The preceding reply. '' for the first question. */
  readonly parent: string;
  readonly atMs: number;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly control?: CompletedControl;
  /** Entered values as the form displays them. */
  readonly filled?: readonly string[];
  /** Name of the client tool whose result the text is. */
  readonly toolName?: string;
  /** Results of tool calls, in their order. The text contains them too. */
  readonly toolResults?: readonly ToolResult[];
}

/** The content of a new question. */
export type UserMessage = Pick<Question, 'text' | 'attachments' | 'control' | 'filled' | 'toolName' | 'toolResults'> & {
  /** Deployments for this message only, in place of the deployment of the chat. Several answers are shown side by side. */
  readonly deployments?: readonly string[];
};

export interface ToolResult {
  /** ID of the tool call. */
  readonly id: string;
  /** Name of the client tool. */
  readonly name: string;
  readonly text: string;
}

/** A call of a client tool, which the user runs elsewhere. */
export interface ClientCall {
  /** Undefined for a function call. */
  readonly id: string | undefined;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
}

export interface Reply {
  readonly kind: 'reply';
  readonly id: string;
  /** The answered question. */
  readonly parent: string;
  readonly atMs: number;
  readonly endedAtMs?: number;
  readonly deployment: string;
  /** Name of the deployment for readers of a shared chat, who may have no access to it. */
  readonly deploymentName?: string;
  /** `interrupted`: the page was closed during the answer, or the service no longer has it. */
  readonly state: 'running' | 'done' | 'stopped' | 'failed' | 'interrupted';
  readonly text: string;
  /** Thoughts of the model before the answer. */
  readonly thoughts?: string;
  readonly custom: ResponseCustomContent;
  readonly functionCall?: { readonly name?: string; readonly arguments?: string };
  /** Tool calls as received, because some models require fields that the page does not know. */
  readonly toolCalls?: readonly JsonObject[];
  readonly finish?: FinishReason;
  readonly usage?: Usage;
  readonly statistics?: Statistics;
  readonly stageTimes: Readonly<Record<number, StageTime>>;
  readonly fault?: ErrorDetails;
  /** ID at the service. */
  readonly responseId?: string;
  /** Whether the user replaced the text. */
  readonly isEdited?: boolean;
  /** Number of oldest messages that were left out of the request. */
  readonly omittedMessages?: number;
  /** Names of the files that were left out of the request, because the deployment does not accept them. */
  readonly omittedFiles?: readonly string[];
  /** Notes and projects that the request contained, if any. */
  readonly usedContext?: UsedContext;
  /** ID of the truncated answer that this one contains and continues. */
  readonly continues?: string;
  /** ID of the failed answer whose completed work this one builds on. */
  readonly resumes?: string;
  /** Whether the service continues the answer without this page, as a chat run with the ID of the answer. Set only while it runs. */
  readonly isRun?: true;
  /** Whether the service no longer has the rest of the answer. */
  readonly isLost?: true;
}

export interface UsedContext {
  /** Whether the request contained the notes about the user. */
  readonly hasNotes: boolean;
  /** Names of the projects whose instructions or files the request contained. */
  readonly projects: readonly string[];
}

export interface Rating {
  readonly isGood: boolean;
  readonly comment: string;
}

export type Turn = Question | Reply;

/** A tree of turns. Regenerating and editing add a branch, and no branch is ever removed. */
export interface Conversation {
  readonly id: string;
  readonly title: string;
  /** Whether the chat is listed first. */
  readonly pinned?: boolean;
  /** Whether the chat is only listed in the archive. */
  readonly archived?: boolean;
  readonly tags?: readonly string[];
  /** Deployment of the next question. */
  readonly deployment: string;
  readonly settings?: ChatSettings;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly turns: Readonly<Record<string, Turn>>;
  /** Ratings by ID of the reply. */
  readonly ratings?: Readonly<Record<string, Rating>>;
  /** Visible branch by parent. The default is the last branch. */
  readonly shown: Readonly<Record<string, string>>;
}

/** Groups the turns by parent, in the order of creation. */
export function groupBranches({ turns }: Conversation): ReadonlyMap<string, readonly Turn[]> {
  return Map.groupBy(Object.values(turns), ({ parent }) => parent);
}

/**
 * Lists the selectable versions of a turn. An answer that another one continues is omitted, because the other one contains it.
 */
export function listVersions(branches: readonly Turn[], visible: Turn): readonly Turn[] {
  const continued = new Set(branches.map((turn) => turn.kind === 'reply' && turn.continues));
  return branches.filter((turn) => turn === visible || !continued.has(turn.id));
}

/** Returns the turns by ID, in the order of creation. */
export function sortTurns(turns: readonly Turn[]): Conversation['turns'] {
  return Object.fromEntries(turns.toSorted((left, right) => left.atMs - right.atMs).map((turn) => [turn.id, turn]));
}

/** Lists the visible turns in order. */
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

/** Lists the turns from the first one to this one. */
export function listTurnsUpTo({ turns }: Conversation, id: string): readonly Turn[] {
  const path: Turn[] = [];
  for (let turn = turns[id]; turn !== undefined; turn = turns[turn.parent]) path.unshift(turn);
  return path;
}

/** Returns a new chat with the turns up to this one. Pins, tags, and ratings stay with the original chat. */
export function forkConversation(conversation: Conversation, turnId: string, title: string): Conversation {
  const { deployment, settings } = conversation;
  const nowMs = Date.now();
  return {
    ...{ id: crypto.randomUUID(), title, deployment, createdAtMs: nowMs, updatedAtMs: nowMs, shown: {} },
    ...(settings !== undefined && { settings }),
    turns: Object.fromEntries(listTurnsUpTo(conversation, turnId).map((turn) => [turn.id, turn])),
  };
}

/** Adds a visible turn. The first question sets the title. */
export function withTurn(conversation: Conversation, turn: Turn): Conversation {
  const title = conversation.title === '' && turn.kind === 'question' ? toChatTitle(turn) : conversation.title;
  return {
    ...conversation,
    title,
    updatedAtMs: turn.atMs,
    turns: { ...conversation.turns, [turn.id]: turn },
    shown: { ...conversation.shown, [turn.parent]: turn.id },
  };
}

/** Replaces a reply. Returns the chat unchanged if it does not contain the reply. */
export function withReply(conversation: Conversation, reply: Reply): Conversation {
  if (conversation.turns[reply.id] === undefined) return conversation;
  return { ...conversation, turns: { ...conversation.turns, [reply.id]: reply } };
}

export function hasControls({ custom: { controls } }: Reply): boolean {
  return Array.isArray(controls) && controls.length > 0;
}

export function listClientCalls({ functionCall, toolCalls = [] }: Reply): readonly ClientCall[] {
  const calls = toolCalls.map(({ id, function: call }) => toClientCall(isJsonObject(call) ? call : {}, String(id ?? '')));
  return functionCall === undefined ? calls : [...calls, toClientCall(functionCall, undefined)];
}

function toClientCall({ name, arguments: input }: JsonObject, id: string | undefined): ClientCall {
  return { id, name: String(name ?? ''), input: String(input ?? '') };
}

/** Returns whether an answer is complete and needs no input from the user: it is not truncated and has no controls or calls. */
export function isCompleteAnswer(reply: Reply): boolean {
  return reply.state === 'done' && reply.finish !== 'length' && !hasControls(reply) && listClientCalls(reply).length === 0;
}

export function withVisibleTurn(conversation: Conversation, { parent, id }: Turn): Conversation {
  return { ...conversation, shown: { ...conversation.shown, [parent]: id } };
}

export function isRunning(turn: Turn): turn is Reply {
  return turn.kind === 'reply' && turn.state === 'running';
}

/**
 * Marks replies in progress as interrupted, because a reload of the page ends their streams. With `canResume`, replies that the
 * service continues stay in progress.
 */
export function withInterruptedReplies(conversation: Conversation, canResume = false): Conversation {
  const interrupted = Object.values(conversation.turns)
    .filter(isRunning)
    .filter(({ isRun }) => !(canResume && isRun === true));
  return interrupted.reduce((current, reply) => withReply(current, { ...reply, state: 'interrupted' }), conversation);
}
