import type { Chunk, ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import { ChunkFold } from '#contract/chat/chunk-fold.ts';
import type { Message } from '#contract/chat/message.ts';
import type { Service } from '../service/service.ts';
import { ServiceError, toErrorDetails } from '../service/service-error.ts';
import { type ChatContext, withFiles } from './chat-context.ts';
import { toSettingFields, withInstructions } from './chat-settings.ts';
import {
  type Conversation,
  listTurnsUpTo,
  type Question,
  type Reply,
  type StageTime,
  type Turn,
  withReply,
  withTurn,
} from './conversation.ts';
import type { Library } from './library.ts';
import { type Retry, streamReplyWithRetries } from './stream-reply-with-retries.ts';
import { toMessages } from './to-messages.ts';

export interface ReplyRunnerOptions {
  readonly library: Library;
  readonly service: Service;
  /** Whether a deployment thinks before it answers. */
  readonly canReason?: (deployment: string) => boolean;
  /** Returns the instructions and files of a chat beyond its settings, for a deployment. Throws `ServiceError`. */
  readonly readContext?: (conversation: Conversation, deployment: string) => Promise<ChatContext>;
  /** Sent with each question. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called with the ID of each chat that has another complete answer. */
  readonly onReplyDone?: (conversationId: string) => void;
  /** Calls back at the next frame. */
  readonly nextFrame: (act: () => void) => void;
}

type NewQuestion = Pick<Question, 'parent' | 'text' | 'attachments' | 'control' | 'filled' | 'toolName'> & {
  /** Deployments in place of the deployment of the chat. Several answers are shown side by side. */
  readonly deployments?: readonly string[];
};

/** How a truncated answer is continued (continuation.ts). */
export interface Continuation {
  readonly truncated: Reply;
  /** Prompt for the rest of the answer. */
  readonly prompt: Message;
  readonly join: JoinTexts;
  /** Adds the usage of both parts. */
  readonly withTotals: (reply: Reply) => Reply;
}

interface AnswerOptions {
  /** An earlier answer. If it failed and can be continued, the new one continues after its completed work. */
  readonly previous?: Reply;
  /** Deployment in place of the deployment of the chat. */
  readonly deployment?: string;
  readonly continuation?: Continuation;
  /** Whether half of the messages are left out, the oldest first, because the chat is too long for the model. */
  readonly isShortened?: boolean;
}

interface RunningReply {
  readonly conversationId: string;
  readonly questionId: string;
  readonly controller: AbortController;
}

type ReplyListener = (conversationId: string, reply: Reply) => void;

/** Requests answers from deployments and writes them to the library, any number concurrently. */
export class ReplyRunner {
  readonly #options: ReplyRunnerOptions;
  readonly #running = new Map<string, RunningReply>();
  /** IDs of questions whose answers are shown side by side. */
  readonly #sideBySide = new Set<string>();
  readonly #replyListeners = new Set<ReplyListener>();
  /** By ID of the reply. */
  readonly #retries = new Map<string, Retry>();
  readonly #retryListeners = new Set<() => void>();

  constructor(options: ReplyRunnerOptions) {
    this.#options = options;
  }

  /** Adds a question to an open chat and requests an answer. */
  async sendQuestion(conversationId: string, { deployments = [], ...input }: NewQuestion): Promise<void> {
    const question: Question = { kind: 'question', id: crypto.randomUUID(), atMs: Date.now(), ...input };
    if (deployments.length > 1) this.#sideBySide.add(question.id);
    this.#options.library.change(conversationId, (conversation) => withTurn(conversation, question));
    const targets = deployments.length === 0 ? [{}] : deployments.map((deployment) => ({ deployment }));
    await Promise.all(targets.map((options) => this.answer(conversationId, question.id, options)));
  }

  /** Requests an answer to a question, or another version of it. */
  async answer(conversationId: string, questionId: string, options: AnswerOptions = {}): Promise<void> {
    const { library, service, headers = {}, canReason = () => false } = this.#options;
    const conversation = library.find(conversationId);
    if (conversation === undefined) return;
    const { previous, continuation, isShortened = false } = options;
    const turns = listTurnsUpTo(conversation, questionId);
    const omittedMessages = countOmitted(turns, isShortened);
    const start = {
      ...createReply(conversation, questionId, options),
      ...(omittedMessages > 0 && { omittedMessages }),
    };
    const controller = new AbortController();
    this.#running.set(start.id, { conversationId, questionId, controller });
    library.put(withTurn(conversation, start), 'now');
    const failed = previous?.state === 'failed' && previous.custom.state !== undefined ? previous : undefined;
    const earlier = failed ?? continuation?.truncated;
    const fold = new ReplyFold(start, earlier, continuation?.join);
    const toCurrentReply = (): Reply => continuation?.withTotals(fold.reply()) ?? fold.reply();
    const end = (last: Partial<Reply>): void => {
      this.#running.delete(start.id);
      this.#setRetry(start.id, undefined);
      const reply: Reply = { ...toCurrentReply(), endedAtMs: Date.now(), ...last };
      library.change(conversationId, (now) => withReply(now, reply), 'now');
      for (const listener of this.#replyListeners) listener(conversationId, reply);
    };
    const draw = this.#createDraw(() => {
      if (this.#running.has(start.id)) library.change(conversationId, (now) => withReply(now, toCurrentReply()));
    });
    try {
      const settings = conversation.settings ?? {};
      const history = toMessages(earlier === undefined ? turns : [...turns, earlier]).slice(omittedMessages);
      const context = await this.#options.readContext?.(conversation, start.deployment);
      const turnMessages = continuation === undefined ? history : [...history, continuation.prompt];
      const messages = withInstructions(withFiles(turnMessages, context?.files ?? []), [
        ...(context?.instructions ?? []),
        settings.instructions ?? '',
      ]);
      const request = {
        deployment: start.deployment,
        messages,
        headers,
        fields: toSettingFields(settings, { canReason: canReason(start.deployment) }),
      };
      const { signal } = controller;
      const onRetry = (retry: Retry | undefined): void => this.#setRetry(start.id, retry);
      for await (const chunk of streamReplyWithRetries(service, { ...request, signal }, onRetry)) {
        fold.add(chunk, Date.now());
        draw();
      }
      end({ state: 'done' });
      this.#options.onReplyDone?.(conversationId);
    } catch (error) {
      end(controller.signal.aborted ? { state: 'stopped' } : { state: 'failed', fault: toErrorDetails(error) });
    }
  }

  /** Calls the listener with each answer that ended, for any reason. Returns a function that unsubscribes. */
  subscribe(listener: ReplyListener): () => void {
    this.#replyListeners.add(listener);
    return () => this.#replyListeners.delete(listener);
  }

  /** Returns the pending retry of an answer, if any. */
  getRetry(replyId: string): Retry | undefined {
    return this.#retries.get(replyId);
  }

  /** Calls the listener on each change of `getRetry`. Returns a function that unsubscribes. */
  readonly subscribeToRetries = (listener: () => void): (() => void) => {
    this.#retryListeners.add(listener);
    return () => this.#retryListeners.delete(listener);
  };

  #setRetry(replyId: string, retry: Retry | undefined): void {
    if (retry === undefined) this.#retries.delete(replyId);
    else this.#retries.set(replyId, retry);
    for (const listener of this.#retryListeners) listener();
  }

  /** Whether an answer is in progress in this chat. */
  isAnswering(conversationId: string): boolean {
    return [...this.#running.values()].some((running) => running.conversationId === conversationId);
  }

  /** Whether any answer is in progress. */
  isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Whether a question was sent to several deployments and no answer was chosen yet. */
  isSideBySide(questionId: string): boolean {
    return this.#sideBySide.has(questionId);
  }

  /** Ends the choice after one answer was chosen. */
  endSideBySide(questionId: string): void {
    this.#sideBySide.delete(questionId);
  }

  /** Stops an answer and those that are shown side by side with it. */
  stop(replyId: string): void {
    const { questionId } = this.#running.get(replyId) ?? {};
    for (const running of this.#running.values()) if (running.questionId === questionId) running.controller.abort();
  }

  /** Stops all answers of a chat. */
  stopIn(conversationId: string): void {
    for (const running of this.#running.values()) if (running.conversationId === conversationId) running.controller.abort();
  }

  stopAll(): void {
    for (const { controller } of this.#running.values()) controller.abort();
  }

  /** Draws any number of chunks between two frames once. */
  #createDraw(act: () => void): () => void {
    let isDue = false;
    return () => {
      if (isDue) return;
      isDue = true;
      this.#options.nextFrame(() => {
        isDue = false;
        act();
      });
    };
  }
}

/** Counts the oldest messages that a request omits: those that an earlier request of the chat omitted, and half of the rest. */
function countOmitted(turns: readonly Turn[], isShortened: boolean): number {
  const before = Math.max(0, ...turns.map((turn) => (turn.kind === 'reply' ? (turn.omittedMessages ?? 0) : 0)));
  if (!isShortened) return before;
  const messages = toMessages(turns);
  const half = before + Math.ceil((messages.length - 1 - before) / 2);
  const next = messages.findIndex(({ role }, index) => index >= half && role === 'user');
  return next === -1 ? before : next;
}

function createReply(conversation: Conversation, questionId: string, { deployment, continuation }: AnswerOptions): Reply {
  const truncated = continuation?.truncated;
  return {
    ...{ kind: 'reply', id: crypto.randomUUID(), parent: questionId, atMs: Date.now(), state: 'running' },
    ...{ deployment: deployment ?? truncated?.deployment ?? conversation.deployment },
    ...{ text: truncated?.text ?? '', custom: truncated?.custom ?? {}, stageTimes: truncated?.stageTimes ?? {} },
    ...(truncated !== undefined && { continues: truncated.id }),
  };
}

/** Joins the earlier and the new text. `isComplete` is true after the last chunk. */
type JoinTexts = (text: string, addition: string, isComplete: boolean) => string;

/**
 * Accumulates the chunks of a reply, and records the start and end of its steps. A continued reply contains the parts of both.
 */
export class ReplyFold {
  readonly #start: Reply;
  readonly #chunks = new ChunkFold((message) => new ServiceError({ status: 200, code: 'upstream_failed', message }));
  readonly #running = new Set<number>();
  readonly #earlier: Reply | undefined;
  readonly #join: JoinTexts;
  #stageTimes: Readonly<Record<number, StageTime>> = {};

  constructor(start: Reply, earlier?: Reply, join: JoinTexts = joinParagraphs) {
    this.#start = start;
    this.#earlier = earlier;
    this.#join = join;
  }

  add(chunk: Chunk, nowMs: number): void {
    this.#chunks.add(chunk);
    for (const { index, delta } of chunk.choices) {
      const stages = index === 0 ? delta?.custom_content?.stages : undefined;
      if (Array.isArray(stages)) for (const stage of stages) this.#recordStage(stage, nowMs);
    }
  }

  /** Returns the reply so far. */
  reply(): Reply {
    const { id, choices, usage, statistics } = this.#chunks.completion();
    const [choice] = choices;
    const { content, custom_content: custom = {}, function_call: call, ...fields } = choice?.message ?? { role: 'assistant' };
    const thoughts = readThoughts(fields);
    const { text: earlierText = '', custom: earlierCustom = {}, stageTimes: before = {} } = this.#earlier ?? {};
    const steps = earlierCustom.stages?.length ?? 0;
    return {
      ...this.#start,
      text: this.#join(earlierText, content ?? '', choice?.finish_reason != null),
      custom: appendCustomContent(earlierCustom, custom),
      stageTimes: {
        ...before,
        ...Object.fromEntries(Object.entries(this.#stageTimes).map(([at, time]) => shiftStage(at, time, steps))),
      },
      ...(id !== '' && { responseId: id }),
      ...(thoughts !== '' && { thoughts }),
      ...(choice?.finish_reason != null && { finish: choice.finish_reason }),
      ...(call !== undefined && { functionCall: call as NonNullable<Reply['functionCall']> }),
      ...(usage != null && { usage }),
      ...(statistics !== undefined && { statistics }),
    };
  }

  #recordStage({ index, status }: StageDelta, nowMs: number): void {
    let time = this.#stageTimes[index];
    if (time === undefined) {
      const [only] = this.#running.size === 1 ? this.#running : [];
      time = { startedAtMs: nowMs, ...(only !== undefined && { within: only }) };
      if (only === undefined) this.#running.add(index);
    }
    if (status != null) {
      time = { ...time, endedAtMs: nowMs };
      this.#running.delete(index);
    }
    this.#stageTimes = { ...this.#stageTimes, [index]: time };
  }
}

function joinParagraphs(text: string, addition: string): string {
  return [text, addition].filter((part) => part !== '').join('\n\n');
}

/** Upstreams use two different names. */
function readThoughts({ reasoning_content, reasoning }: Readonly<Record<string, unknown>>): string {
  return [reasoning_content, reasoning].find((value): value is string => typeof value === 'string') ?? '';
}

/** Appends numbered parts after the existing ones. Of other fields, the newer value replaces the older one. */
function appendCustomContent(before: ResponseCustomContent, custom: ResponseCustomContent): ResponseCustomContent {
  const joined = { ...before, ...custom };
  for (const key of ['stages', 'attachments'] as const) {
    const [first, second] = [before[key] ?? [], custom[key] ?? []];
    const items = [...first, ...second.map((item) => ({ ...item, index: item.index + first.length }))];
    if (items.length > 0) Object.assign(joined, { [key]: items });
  }
  return joined;
}

function shiftStage(at: string, time: StageTime, steps: number): [number, StageTime] {
  const { within } = time;
  return [Number(at) + steps, within === undefined ? time : { ...time, within: within + steps }];
}
